// Loops that wait for a phase of an mbarrier. How often such a loop turns on the virtual GPU depends on the order in
// which warps run there. A real warp sleeps in mbarrier.try_wait. So the time model counts one turn for each phase that
// a warp waited for.
#pragma once

#include "sass/code.h"

namespace warpgrind::timing {

// The flow without the turns that found their phase incomplete. A loop that does anything else than test and wait
// (stores, barriers, copies, products) stays as it is.
sass::Flow without_polls(const sass::Code& code, sass::Flow flow);

}  // namespace warpgrind::timing
