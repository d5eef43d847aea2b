// The end of turns in machine code, for code below device/execution (execution/rounds.h).
#pragma once

#include "jit/abi.h"

namespace warpgrind::device {

// Call before a change to state of one warp that the next warp of its block must not find: the worker's loop then
// starts the next one, and start_warp() sets that state. Cheap if no warps take turns. In execution/rounds.cpp.
void leave_turns(jit::WarpContext& warp);

}  // namespace warpgrind::device
