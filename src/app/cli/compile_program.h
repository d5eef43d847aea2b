// Compilation of CUDA sources to a program: with NVIDIA's nvcc if it is installed, otherwise as `warpgrind nvcc` does
// it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace warpgrind::cli {

std::string find_in_path(const std::string& name);  // empty: not on the PATH

std::vector<std::string> usual_options(const std::string& gpu);  // of a compilation for this model

struct CompileCommand {
  std::vector<std::string> sources;
  std::string gpu;                 // GPU model to compile for
  std::vector<std::string> flags;  // of the user, in nvcc's form; each word may hold several
  std::string compiler;            // "nvcc" or "clang"; empty: nvcc if it is installed
  bool host_lines = false;         // with debug information for host code
  std::string cache;               // folder with programs that clang compiled before; empty: none
  bool debuggable = false;         // with debug information for kernels (-G) and host code, and without optimisation
};
// The path of the program, which is in `folder` or in the cache.
Result<std::string> compile_program(const CompileCommand& command, const std::string& folder);

}  // namespace warpgrind::cli
