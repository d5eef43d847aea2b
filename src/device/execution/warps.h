// How a warp begins and ends.
#pragma once

#include <cstring>

#include "device/access/access_log.h"
#include "device/execution/state.h"

namespace warpgrind::device {

WarpFiber& take_fiber(Worker& worker);  // an idle one or a new one
void put_idle(Worker& worker, WarpFiber& fiber);
// The next warp of the block, in a fiber that has none.
void start_warp(WarpFiber& fiber, Worker& worker, Block& block);
// It has come to its end; with the last one the block has.
void end_warp(WarpFiber& fiber, Worker& worker);

// Which block of the grid it belongs to, whose fields the context has already; and that it begins there.
inline void place_in_grid(WarpFiber& f, const Block& b) {
  static_assert(offsetof(jit::WarpContext, smid) == offsetof(jit::WarpContext, ctaid) + sizeof f.context.ctaid);
  static_assert(offsetof(Block, smid) == offsetof(Block, index) + sizeof b.index);
  std::memcpy(f.context.ctaid, b.index, sizeof f.context.ctaid + sizeof f.context.smid);
  f.block_linear = b.linear;
}
inline void begin_at_start(WarpFiber& f, const Block& b) {
  f.context.exited = 0;
  f.context.region = 0;
  f.context.spin = 0;
  give_sites(f, b);
}

}  // namespace warpgrind::device
