// Advice for each kernel, from rules over its counters: Nsight Compute's rules and our own (rules.inc).
#pragma once

#include "gpu/gpu_model.h"
#include "results/profile.h"

namespace warpgrind::advice {

// Advice that saves less than this fraction of the time is not given.
inline constexpr double kLeastGain = 0.025;

// Fills in KernelProfile::advice, the largest gain first. model: null: the one that the profile names. A kernel keeps
// its advice if the model is unknown, or if the profile has no work for the time model (files of earlier versions).
void advise(results::Profile& profile, const GpuModel* model = nullptr);

}  // namespace warpgrind::advice
