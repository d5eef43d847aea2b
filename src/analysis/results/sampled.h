// Marks what comes from some blocks of a launch (`warpgrind run --sample-blocks`).
#pragma once

#include "results/profile.h"

namespace warpgrind::results {

// Gives the counters of lines and sites of sampled kernels, and the advice for them, the origin `sampled`. Call it when
// the profile is complete; counters of kernels and ranges have it already.
void mark_sampled(Profile& profile);

}  // namespace warpgrind::results
