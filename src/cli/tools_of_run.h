// NVIDIA's nvcc and ptxas as a program of `warpgrind run` calls them. Some programs compile that way (PyCUDA, Triton
// and others), for one GPU's machine code, which the virtual one cannot run. The library that every process of a run
// has (cudart/preload.cpp) starts `warpgrind tool-of-run nvcc|ptxas FILE ARGUMENTS...` in place of such a tool: ptxas
// is ours, which packs the PTX, and nvcc is theirs, told to leave PTX in what it makes.
#pragma once

#include <string>
#include <vector>

namespace warpgrind::cli {

// What main() does for run_variables::kToolOfRun; arguments: those behind that word. The exit code, if it returns.
int tool_of_run(const std::vector<std::string>& arguments);

// nvcc's arguments with PTX wherever machine code is asked for: code=sm_80 becomes code=[sm_80,compute_80],
// which is what `-arch=sm_80` alone means.
std::vector<std::string> with_ptx(const std::vector<std::string>& arguments);

}  // namespace warpgrind::cli
