// nvcc's names of GPU architectures, and the one that device code is compiled for.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace warpgrind::toolchain {

inline constexpr int kDefaultArchitecture = 90;

// Of what -arch, -code and -gencode ask for, the highest that clang knows: compute capability times 10 (90), with "a"
// for architecture-specific features. PTX of it runs on every GPU model.
struct Architecture {
  int number = kDefaultArchitecture;
  bool specific = false;   // sm_90a
  std::string sm() const;  // "sm_90a"
};
Result<Architecture> choose_architecture(const std::string& arch, const std::vector<std::string>& codes,
                                         const std::vector<std::string>& gencodes);

std::vector<int> known_architectures();  // that nvcc knows or knew

}  // namespace warpgrind::toolchain
