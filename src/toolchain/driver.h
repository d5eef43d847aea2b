// Carries out what a command line of nvcc asks for.
#pragma once

#include <string>
#include <vector>

#include "toolchain/plan.h"

namespace warpgrind::toolchain {

// The exit code where nothing was compiled for a reason that is none of the sources': a part of the installation is
// missing, clang is not installed, there is no temporary folder.
inline constexpr int kNotPossible = 2;

struct Outcome {
  int exit_code = 0;                      // of nvcc: 1 when something failed; or kNotPossible
  int signal = 0;                         // not 0: stopped by this one
  std::vector<std::string> dependencies;  // files that were read, sources among them
  std::string messages;                   // of the compiler and the linker, as they were shown
};

// words: without the name of the program, those of NVCC_PREPEND_FLAGS and NVCC_APPEND_FLAGS in their places. Says on
// stderr what is wrong.
Outcome nvcc(const std::vector<std::string>& words, const Surroundings& surroundings);

}  // namespace warpgrind::toolchain
