// Advice for each kernel, from rules over its counters: Nsight Compute's rules and our own (rules.inc).
#pragma once

#include "results/profile.h"

namespace warpgrind::advice {

// Fills in KernelProfile::advice, the most useful first. If the GPU model is unknown, rules that need its figures are
// left out.
void advise(results::Profile& profile);

}  // namespace warpgrind::advice
