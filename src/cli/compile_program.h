// CUDA sources to a program: with NVIDIA's nvcc where it is installed, else as `warpgrind nvcc` does it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace warpgrind::cli {

std::string find_in_path(const std::string& name);  // empty: not on the PATH

struct CompileCommand {
  std::vector<std::string> sources;
  std::string gpu;                 // compiled for this model
  std::vector<std::string> flags;  // of the user, in nvcc's words; each may hold several
  std::string compiler;            // "nvcc" or "clang"; empty: nvcc when it is there
  bool host_lines = false;         // with debug information of the host's code
  std::string cache;               // folder of programs compiled by clang before; empty: none
};
// The path of the program, which lies in `folder` or in the cache.
Result<std::string> compile_program(const CompileCommand& command, const std::string& folder);

}  // namespace warpgrind::cli
