// GPU architectures: nvcc's names for them, and the choice of the one that device code is compiled for.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace warpgrind::toolchain {

inline constexpr int kDefaultArchitecture = 90;

// The highest architecture that clang knows among those of -arch, -code and -gencode. `number` is the compute
// capability times 10 (90). `specific` is the suffix "a" (architecture-specific features). Its PTX runs on every GPU
// model.
struct Architecture {
  int number = kDefaultArchitecture;
  bool specific = false;   // sm_90a
  std::string sm() const;  // "sm_90a"
};
Result<Architecture> choose_architecture(const std::string& arch, const std::vector<std::string>& codes,
                                         const std::vector<std::string>& gencodes);

std::vector<int> known_architectures();  // those that nvcc knows or knew

}  // namespace warpgrind::toolchain
