// Warps of a block that take turns in machine code (jit/kernel/regions.h). Where a kernel has regions, the warps of a
// block are a round: each hands over to the next one (WarpContext::successor) at every __syncthreads() of the whole
// block and at its end; the last one asks the device, which looks for interrupts and begins the next round or the next
// block. Other kernels run a block's warps in place, one after the other in one context. Nobody counts starts, arrivals
// or ends meanwhile, or keeps lists; whoever needs them calls leave_round() first. Beginning and ending each warp here
// took a fifth of a transpose or a reduction, its barriers another fifth.
#pragma once

#include "device/execution/state.h"

namespace warpgrind::device {

Turns turns_of(const Launch& launch);

// The block has not begun, and the worker has no other warps: all of its warps take turns from the start. The first
// one; null: they cannot.
WarpFiber* begin_block_in_turn(Worker& worker, Block& block);
// All warps of the block have come to its barrier 0 as a whole and are in its list, and the worker has no other warps:
// they take turns from now on, unless one of them waits within a region. The first one; null: as before.
WarpFiber* begin_round(Worker& worker, Block& block);
// `first` has been started: what the block has left takes its place.
void begin_in_place(Worker& worker, Block& block, WarpFiber& first);

// A warp has returned from machine code. True: it was the last one of a round in which all have ended, and the block is
// gone. Else the round is over, and the warp may have ended.
bool end_block_in_turn(Worker& worker, WarpFiber& last);

void write_down_round(Worker& worker, WarpFiber& current);
void write_down_in_place(Worker& worker);

// Who has begun, ended or waits at the barrier and who may run is in the lists again.
inline void leave_round(Worker& worker, WarpFiber& current) {
  if (worker.round) [[unlikely]]
    write_down_round(worker, current);
  if (worker.in_place) [[unlikely]]
    write_down_in_place(worker);
}

void release_team(Worker& worker);  // the launch ends: fibers that waited for its next block are idle
void forget_round(Worker& worker);  // the launch has ended before its time

}  // namespace warpgrind::device
