// Log of shared-memory loads. Machine code writes an entry in a few instructions instead of calling an observer. Most
// loads lie between two barriers of the block with no store between them; those entries are never read.
#pragma once

#include <cstdint>

#include "gpu/types.h"

namespace warpgrind::events {

// A weak load that machine code performs itself: an AffineAccess without the fields common to its block. Machine code
// relies on the offsets of the fields.
struct LateLoad {
  std::uint32_t base = 0;  // offset in the block's shared memory
  std::int32_t kx = 0, ky = 0;
  LaneMask mask = 0;
  std::uint32_t site = 0, warp = 0;
};

// Free part of a block's log. When the block begins, an observer that wants blocks and accesses provides the memory
// (BlockEvent::late_loads). At any event of the block it may read the entries, close the log (next == end) or open it
// again. Logged loads raise no event. While the log has no room, each load raises on_affine_access.
struct LateLoads {
  LateLoad* next = nullptr;
  LateLoad* end = nullptr;
};

}  // namespace warpgrind::events
