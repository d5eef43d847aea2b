// Publishing of barrier and synchronisation events. Each function checks first whether an observer wants the event.
#pragma once

#include <cstdint>

#include "device/state.h"

namespace warpgrind::device {

inline LaneMask live_lanes(const jit::WarpContext& c) {
  return c.initial_mask & ~c.exited;
}

// Lanes that name the same members at one instruction, and all lanes that they met.
struct Meeting {
  std::uint32_t site;
  LaneMask mask, members, together;
  LaneMask left = 0;  // members that left the kernel while others waited for them
};
void publish_meeting(jit::WarpContext& context, const Meeting& meeting);
// Lanes of a warp that arrive at a barrier of the block.
struct Arrival {
  std::uint32_t site, id, threads;
  LaneMask mask;
  bool waits = true;
};
void publish_arrival(const jit::WarpContext& context, const Arrival& arrival);
// Publishes the arrivals of the waiting warps one by one, if they cannot be published as one event.
void publish_waiting(const Worker& worker, Barrier& barrier);
void publish_passed(const Worker& worker, Block& block, Barrier& barrier);
void publish_cluster_barrier(jit::WarpContext& context, std::uint32_t site, LaneMask mask, bool waits,
                             std::uint32_t generation);

}  // namespace warpgrind::device
