// What an AccessPatterns observer saw, put into a profile.
#pragma once

#include "counters/access_patterns.h"
#include "results/profile.h"

namespace warpgrind::results {

// For the kernels of one device.
void add_patterns(Profile& profile, int device, const counters::AccessPatterns& patterns, const AccessRules& rules);

}  // namespace warpgrind::results
