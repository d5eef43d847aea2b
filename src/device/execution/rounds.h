// Warps of a block that go from barrier to barrier in turn. Between two __syncthreads() of a whole block nothing has to
// be decided: each warp hands over to the next one in machine code (WarpContext::successor), the last one asks the
// device, which looks for interrupts and begins the next round. Nobody counts arrivals or keeps lists meanwhile;
// whoever needs them calls leave_round() first. A tree reduction spends a quarter of its time at barriers otherwise.
#pragma once

#include "device/execution/state.h"

namespace warpgrind::device {

// All warps of the block have come to its barrier 0 as a whole and are in its list, and the worker has no other warps:
// they take turns from now on, unless one of them waits within a region. The first one; null: as before.
WarpFiber* begin_round(Worker& worker, Block& block);

void write_down_round(Worker& worker, WarpFiber& current);

// Who waits at the barrier and who may run is in the lists again.
inline void leave_round(Worker& worker, WarpFiber& current) {
  if (worker.round) [[unlikely]]
    write_down_round(worker, current);
}

void forget_round(Worker& worker);  // the launch has ended before its time

}  // namespace warpgrind::device
