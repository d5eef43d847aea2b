// libNVVM's options (libNVVM API, nvvmCompileProgram), parsed and as clang's options.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace warpgrind::nvvm {

struct Options {
  int architecture = 75;       // of -arch=compute_XX; CUDA 13's default
  std::string suffix;          // 'a' or 'f' behind the number
  bool debug = false;          // -g
  bool line_info = false;      // -generate-line-info
  bool optimise = true;        // false with -opt=0
  bool flush_to_zero = false;  // -ftz=1
  bool exact_sqrt = true;      // false with -prec-sqrt=0
  bool exact_division = true;  // false with -prec-div=0
  bool fused = true;           // false with -fma=0
  bool lto = false;            // -gen-lto: output that nvJitLink takes as LTO IR
};

Result<Options> read_options(const std::vector<std::string>& words);

// The same options as words of clang's command.
std::vector<std::string> clang_words(const Options& options);

}  // namespace warpgrind::nvvm
