// Loads of shared memory that machine code notes in a few instructions instead of calling an observer for each. Most
// are between two barriers of the block and no store is: then nobody need ever look at them.
#pragma once

#include <cstdint>

#include "gpu/types.h"

namespace warpgrind::events {

// A weak load that machine code serves itself: AffineAccess, without what it shares with the others of its block. Read
// and written at fixed offsets.
struct LateLoad {
  std::uint32_t base = 0;  // offset in the block's shared memory
  std::int32_t kx = 0, ky = 0;
  LaneMask mask = 0;
  std::uint32_t site = 0, warp = 0;
};

// Of a block. An observer that wants blocks and accesses gives it memory (BlockEvent::late_loads) when the block
// begins, takes out what is there when it likes, and may close it (next == end) and open it again at any event of the
// block: what is in here comes to no observer, and while there is no room each load is told (on_affine_access).
struct LateLoads {
  LateLoad* next = nullptr;
  LateLoad* end = nullptr;
};

}  // namespace warpgrind::events
