// Values of the timing constants that the file of a GPU model does not give. The rules are in timing_constants.inc.
#pragma once

#include <vector>

#include "gpu/gpu_model.h"

namespace warpgrind {

// Computes each constant of `model` that is not in `given` (one entry for each of timing_figures()), and writes the
// rule as its source. `reference` is the measured GPU that the rules start from; it has all constants.
void derive_timing(GpuModel& model, std::vector<bool> given, const GpuModel& reference);

}  // namespace warpgrind
