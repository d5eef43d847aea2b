// What observers see where threads meet. Each looks itself whether anybody wants it.
#pragma once

#include <cstdint>

#include "device/execution/state.h"

namespace warpgrind::device {

inline LaneMask live_lanes(const jit::WarpContext& c) {
  return c.initial_mask & ~c.exited;
}

// Lanes that name the same members at one instruction, and all that they met.
struct Meeting {
  std::uint32_t site;
  LaneMask mask, members, together;
  LaneMask left = 0;  // members that left the kernel while others waited for them
};
void publish_meeting(jit::WarpContext& context, const Meeting& meeting);
void publish_passed(const Worker& worker, const Block& block, std::uint32_t barrier);
void publish_cluster_barrier(jit::WarpContext& context, std::uint32_t site, LaneMask mask, bool waits,
                             std::uint32_t generation);

}  // namespace warpgrind::device
