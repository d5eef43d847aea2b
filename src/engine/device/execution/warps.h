// Start and end of warps.
#pragma once

#include <cstring>

#include "device/access/access_log.h"
#include "device/state.h"

namespace warpgrind::device {

WarpFiber& take_fiber(Worker& worker);  // an idle or a new one
void put_idle(Worker& worker, WarpFiber& fiber);
// Starts the next warp of the block in an idle fiber.
void start_warp(WarpFiber& fiber, Worker& worker, Block& block);
// Ends a warp. The last warp also ends its block.
void end_warp(WarpFiber& fiber, Worker& worker);

// Copies the block's index and SM to the warp. The other fields of the context are set elsewhere.
inline void place_in_grid(WarpFiber& f, const Block& b) {
  static_assert(offsetof(jit::WarpContext, smid) == offsetof(jit::WarpContext, ctaid) + sizeof f.context.ctaid);
  static_assert(offsetof(Block, smid) == offsetof(Block, index) + sizeof b.index);
  std::memcpy(f.context.ctaid, b.index, sizeof f.context.ctaid + sizeof f.context.smid);
  f.block_linear = b.linear;
}
// Resets the warp to the kernel's first instruction.
inline void begin_at_start(WarpFiber& f, const Block& b) {
  f.context.exited = 0;
  f.context.region = 0;
  f.context.spin = 0;
  give_sites(f, b);
}

}  // namespace warpgrind::device
