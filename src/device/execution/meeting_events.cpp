// What observers see where threads meet: lanes of a warp, warps of a block, blocks of a cluster.
#include "device/execution/meeting_events.h"

#include <bit>

#include "device/access/access.h"
#include "device/calls/symbols.h"

namespace warpgrind::device {

void publish_meeting(jit::WarpContext& c, const Meeting& m) {
  Launch& launch = launch_of(c);
  if (!launch.wants.warp_syncs || m.mask == 0) return;
  events::WarpSync event;
  static_cast<events::WarpEvent&>(event) = warp_event(c, m.site, m.mask);
  event.operation = launch.kernel->sites[m.site].kind;
  event.members = m.members;
  event.together = m.together;
  event.live = live_lanes(c);
  event.left = m.left;
  events::publish_warp_sync(*launch.observers, event, worker_of(c).number);
}

void publish_passed(const Worker& w, const Block& b, std::uint32_t barrier) {
  const Launch& launch = *w.launch;
  if (!launch.wants.barriers_passed) return;
  const events::BarrierPassed event{&launch.info, Dim3{b.index[0], b.index[1], b.index[2]}, barrier};
  events::publish_barrier_passed(*launch.observers, event, w.number);
}

void publish_cluster_barrier(jit::WarpContext& c, std::uint32_t site, LaneMask mask, bool waits,
                             std::uint32_t generation) {
  const Launch& launch = launch_of(c);
  if (!launch.wants.cluster_barriers || mask == 0) return;
  events::ClusterBarrier event;
  static_cast<events::WarpEvent&>(event) = warp_event(c, site, mask);
  event.waits = waits;
  event.order = launch.kernel->sites[site].order;
  event.generation = generation;
  event.rank = fiber_of(c).block->cluster_rank;
  events::publish_cluster_barrier(*launch.observers, event, worker_of(c).number);
}

}  // namespace warpgrind::device

using namespace warpgrind;
using namespace warpgrind::device;

// All that are needed run together already: machine code calls this where somebody observes it. WarpContext::members
// holds the mask that each names.
extern "C" void wg_warp_sync(void* context, std::uint32_t site, std::uint32_t mask) {
  jit::WarpContext& c = warp(context);
  for (LaneMask left = mask; left;) {
    const LaneMask members = c.members[std::countr_zero(left)];
    LaneMask group = 0;
    for (LaneMask l = left; l; l &= l - 1)
      if (c.members[std::countr_zero(l)] == members) group |= l & -l;
    left &= ~group;
    publish_meeting(c, {site, group, members, group});
  }
}

extern "C" void wg_exit(void* context, std::uint32_t site, std::uint32_t mask) {
  jit::WarpContext& c = warp(context);
  Launch& launch = launch_of(c);
  if (!launch.wants.exits) return;
  events::Exit event;
  static_cast<events::WarpEvent&>(event) = warp_event(c, site, mask);
  event.live = live_lanes(c) & ~mask;
  events::publish_exit(*launch.observers, event, worker_of(c).number);
}
