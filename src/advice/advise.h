// What is worth doing about each kernel: rules over its counters, Nsight Compute's and our own (rules.inc).
#pragma once

#include "results/profile.h"

namespace warpgrind::advice {

// Fills in KernelProfile::advice, the most useful first. Rules that need figures of the GPU are left out when its model
// is not known.
void advise(results::Profile& profile);

}  // namespace warpgrind::advice
