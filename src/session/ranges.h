// The named ranges that the program has open (NVTX), per host thread: a launch belongs to those open when it is issued.
#pragma once

#include <string>

namespace warpgrind::session {

// The depth after the call, outermost 0; -1 when there was nothing to pop (as nvtxRangePushA and nvtxRangePop return).
int push_range(std::string name);
int pop_range();
std::string open_ranges();  // outermost first, joined by "/"

}  // namespace warpgrind::session
