// Results of a launch.
#pragma once

#include "events/scoreboard.h"
#include "events/site.h"

namespace warpgrind::device {

// Sizes the counts for a kernel. Call before collect() (access/count.h).
void make_room(events::LaunchCounts& counts, const events::KernelFacts& facts);

}  // namespace warpgrind::device
