// libNVVM's options (libNVVM API, nvvmCompileProgram) as clang's.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace warpgrind::nvvm {

struct Options {
  int architecture = 75;       // of -arch=compute_XX; CUDA 13's default
  std::string suffix;          // 'a' or 'f' behind it
  bool debug = false;          // -g
  bool line_info = false;      // -generate-line-info
  bool optimise = true;        // -opt=0: no
  bool flush_to_zero = false;  // -ftz=1
  bool exact_sqrt = true;      // -prec-sqrt=0: no
  bool exact_division = true;  // -prec-div=0: no
  bool fused = true;           // -fma=0: no
  bool lto = false;            // -gen-lto: what nvJitLink takes as LTO IR
};

Result<Options> read_options(const std::vector<std::string>& words);

// The words of clang's command that say the same.
std::vector<std::string> clang_words(const Options& options);

}  // namespace warpgrind::nvvm
