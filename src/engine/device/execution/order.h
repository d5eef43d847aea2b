// Orders of blocks and warps other than forward (device/schedule.h). They use one worker, so that only the schedule and
// the program decide which warp runs next.
//
// A warp may be suspended at barriers and all other waits, heads of loops, before atomics, after it has released others
// from a barrier, and at its end. Observers do not change these places. So a problem that a check finds in an order
// also shows in a plain run in that order.
#pragma once

#include "device/state.h"

namespace warpgrind::device {

std::uint64_t first_random(const Schedule& schedule);  // Launch::random before the first warp
// Number of the nth block of the grid, and of the nth warp of a block, in this order.
std::uint64_t block_in_order(const Launch& launch, std::uint64_t nth);
std::uint32_t warp_in_order(const Launch& launch, const Block& block, std::uint32_t nth);
// Whether the next warp to run is a new one (Worker::starting then has one). Otherwise next_in_order() returns the next
// warp.
bool starts_next(Worker& worker);
WarpFiber* next_in_order(Worker& worker);  // null: none is ready
void suspend_in_order(Worker& worker, WarpFiber& self);
std::uint32_t live_warps(const Worker& worker);  // warps that have begun and not ended
// As take_turns() (device/state.h), at the head of a loop.
void take_turns_in_loop(WarpFiber& fiber, std::uint32_t site);
// Ends the launch if it runs alone and all its warps have waited for too many rounds.
void end_if_alone(Worker& worker);

}  // namespace warpgrind::device
