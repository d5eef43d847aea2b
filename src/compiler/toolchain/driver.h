// Driver of `warpgrind nvcc`: runs the compilers and linkers for an nvcc command line.
#pragma once

#include <string>
#include <vector>

#include "toolchain/plan.h"

namespace warpgrind::toolchain {

// Exit code if nothing was compiled for a reason outside the sources: a part of the installation is missing, clang is
// not installed, or there is no temporary folder.
inline constexpr int kNotPossible = 2;

struct Outcome {
  int exit_code = 0;                      // of nvcc: 1 if something failed; or kNotPossible
  int signal = 0;                         // not 0: this signal stopped the driver
  std::vector<std::string> dependencies;  // files that were read, including the sources
  std::string messages;                   // of the compiler and the linker, as printed
};

// `words`: without the program's name, with NVCC_PREPEND_FLAGS before them and NVCC_APPEND_FLAGS behind. Errors go to
// stderr.
Outcome nvcc(const std::vector<std::string>& words, const Surroundings& surroundings);

}  // namespace warpgrind::toolchain
