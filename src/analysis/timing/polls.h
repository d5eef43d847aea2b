// Loops that wait for other threads: for a phase of an mbarrier, or for a word in memory that another thread writes
// (the barrier of a cooperative grid, flags between blocks). How often such a loop turns on the virtual GPU depends on
// the order in which warps run there. A real warp sleeps in mbarrier.try_wait. So the time model counts one turn for
// each time that a warp waited.
#pragma once

#include "sass/code.h"

namespace warpgrind::timing {

// The flow without the turns that found their phase incomplete. A loop that does anything else than test and wait
// (stores, barriers, copies, products) stays as it is. So does one around a load from memory with a value that goes
// from one turn to the next: it counts, or it walks through a list.
sass::Flow without_polls(const sass::Code& code, sass::Flow flow);

}  // namespace warpgrind::timing
