// Rounds: warps of a block that take turns in machine code (codegen/kernel/regions.h). In a kernel with regions, the
// warps of a block form a round. Each warp hands over to the next one (WarpContext::successor) at every __syncthreads()
// of the whole block and at its end. The last one calls the device, which checks for interrupts and begins the next
// round or block. Other kernels run a block's warps in place, one after the other in one context. Meanwhile starts,
// arrivals and ends are not counted, and no lists are kept; code that needs them calls leave_round() first. Beginning
// and ending each warp in the device took a fifth of a transpose or a reduction, its barriers another fifth.
#pragma once

#include "device/state.h"

namespace warpgrind::device {

Turns turns_of(const Launch& launch);

// For a block that has not begun, on a worker without other warps: all its warps take turns from the start. Returns the
// first warp; null: not possible.
WarpFiber* begin_block_in_turn(Worker& worker, Block& block);
// For a block whose warps all wait as whole warps in the list of barrier 0, on a worker without other warps. They take
// turns from now on, unless one waits inside a region. Returns the first warp; null: nothing changed.
WarpFiber* begin_round(Worker& worker, Block& block);
// Call after `first` has started: the remaining warps of the block run in its place.
void begin_in_place(Worker& worker, Block& block, WarpFiber& first);

// Call when a warp has returned from machine code. Returns true if it was the last one of a round in which all have
// ended; the block is then retired. Otherwise the round is over, and the warp may have ended.
bool end_block_in_turn(Worker& worker, WarpFiber& last);

void write_down_round(Worker& worker, WarpFiber& current);
void write_down_in_place(Worker& worker);

// Restores the lists and counts of warps that have begun, ended, wait at the barrier or may run.
inline void leave_round(Worker& worker, WarpFiber& current) {
  if (worker.round) [[unlikely]]
    write_down_round(worker, current);
  if (worker.in_place) [[unlikely]]
    write_down_in_place(worker);
}

void release_team(Worker& worker);  // at the end of the launch: fibers kept for the next block become idle
void forget_round(Worker& worker);  // the launch was aborted

}  // namespace warpgrind::device
