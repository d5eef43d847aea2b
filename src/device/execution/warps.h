// How a warp begins and ends.
#pragma once

#include "device/execution/state.h"

namespace warpgrind::device {

WarpFiber& take_fiber(Worker& worker);  // an idle one or a new one
void put_idle(Worker& worker, WarpFiber& fiber);
// The next warp of the block, in a fiber that has none.
void start_warp(WarpFiber& fiber, Worker& worker, Block& block);
// It has come to its end; with the last one the block has.
void end_warp(WarpFiber& fiber, Worker& worker);

}  // namespace warpgrind::device
