// What a run does not prove: kernels, lines and outcomes that it did not exercise, results that nothing verified, and
// times that are no measurements.
#pragma once

#include <string>
#include <vector>

#include "gpu/gpu_model.h"
#include "mcp/program.h"
#include "results/profile.h"

namespace warpgrind::mcp {

// Kernels of the program that no launch ran.
std::vector<std::string> kernels_never_run(const ProgramRun& run);

// Of a detailed profile's kernel, in the user's sources: lines that no warp executed, and conditions with one outcome
// alone. "main.cu:12"
struct Unexercised {
  std::vector<std::string> lines, conditions;
};
Unexercised unexercised(const results::KernelProfile& kernel);

// Sentences for the model, the most important first.
std::vector<std::string> caveats(const ProgramRun& run, const GpuModel* model);

}  // namespace warpgrind::mcp
