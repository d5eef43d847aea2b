// NVIDIA's nvcc and ptxas, called by a program under `warpgrind run`. Some programs (PyCUDA, Triton and others) compile
// that way, for one GPU's machine code, which the virtual GPU cannot run. The library loaded into every process of a
// run (runtime/preload.cpp) starts `warpgrind tool-of-run nvcc|ptxas FILE ARGUMENTS...` instead of such a tool. For
// ptxas, ours runs and packs the PTX. For nvcc, NVIDIA's runs with options that keep PTX in its output.
#pragma once

#include <string>
#include <vector>

namespace warpgrind::cli {

// main() calls this for run_variables::kToolOfRun. `arguments`: those behind that word. Returns the exit code, if it
// returns.
int tool_of_run(const std::vector<std::string>& arguments);

// nvcc's arguments with PTX wherever machine code is asked for: code=sm_80 becomes code=[sm_80,compute_80],
// which is what `-arch=sm_80` alone means.
std::vector<std::string> with_ptx(const std::vector<std::string>& arguments);

}  // namespace warpgrind::cli
