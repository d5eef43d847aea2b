// Orders of blocks and warps other than forward (device/schedule.h). They use one worker, so that nothing but the
// schedule and the program decides who is next.
//
// Where a warp may be suspended is the same whether somebody observes the launch or not: at barriers and wherever it
// waits, at the heads of loops, before atomics, when it has let others past a barrier, and at its end. So what a check
// finds in an order, a run in that order does.
#pragma once

#include "device/execution/state.h"

namespace warpgrind::device {

void set_order(Launch& launch, const Schedule& schedule, bool alone);
// What takes its place in the order of the grid's numbers, and of the block's warps.
std::uint64_t block_in_order(const Launch& launch, std::uint64_t nth);
std::uint32_t warp_in_order(const Launch& launch, const Block& block, std::uint32_t nth);
// Whether the next to run is a warp that has not begun (Worker::starting has one then), and else which.
bool starts_next(Worker& worker);
WarpFiber* next_in_order(Worker& worker);  // null: none is ready
void suspend_in_order(Worker& worker, WarpFiber& self);
std::uint32_t live_warps(const Worker& worker);  // that have begun
// The warp could go on; others may be first. Nothing in launches that run forward.
void take_turns(WarpFiber& fiber);
// The same at the head of a loop.
void take_turns_in_loop(WarpFiber& fiber, std::uint32_t site);
// All warps of the launch have waited for so many rounds that it is in vain.
void end_if_alone(Worker& worker);

}  // namespace warpgrind::device
