// What an AccessPatterns observer saw, put into a profile.
#pragma once

#include "counters/access_patterns.h"
#include "counters/block_trace.h"
#include "results/profile.h"

namespace warpgrind::results {

// For the kernels of one device.
void add_patterns(Profile& profile, int device, const counters::AccessPatterns& patterns, const AccessRules& rules);

// The traced block of each kernel of one device. Must follow add_patterns: allocations are numbered on.
void add_block_trace(Profile& profile, int device, const counters::BlockTrace& trace);

}  // namespace warpgrind::results
