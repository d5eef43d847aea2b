// Synchronisation events: meetings of lanes of a warp, warps of a block, blocks of a cluster.
#include "device/execution/meeting_events.h"

#include <bit>
#include <utility>

#include "device/access/access.h"
#include "device/symbols.h"

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

void publish_arrival(const jit::WarpContext& c, const Arrival& a) {
  const Worker& w = *fiber_of(c).worker;
  if (!w.launch->wants.barriers) return;
  events::Barrier event;
  static_cast<events::WarpEvent&>(event) = warp_event(c, a.site, a.mask);
  event.barrier = a.id;
  event.threads = a.threads;
  event.waits = a.waits;
  event.live = live_lanes(c);
  events::publish_barrier(*w.launch->observers, event, w.number);
}

void publish_waiting(const Worker& w, Barrier& barrier) {
  const std::uint32_t site = std::exchange(barrier.whole_site, ~0u);
  if (site == ~0u || !w.launch->wants.barriers) return;
  for (const WarpFiber* f = barrier.first; f; f = f->next)
    publish_arrival(f->context, {site, 0, 0, f->context.initial_mask});
}

namespace {

// Publishes the exits of whole warps before a barrier that is not published as one event.
void publish_left(const Worker& w, Block& b) {
  const Launch& launch = *w.launch;
  for (std::uint32_t left = std::exchange(b.left, 0); left != 0; left &= left - 1) {
    events::Exit event;
    event.launch = &launch.info;
    event.site = b.left_site;
    event.block = Dim3{b.index[0], b.index[1], b.index[2]};
    event.warp = static_cast<std::uint32_t>(std::countr_zero(left));
    event.mask = launch.shapes[event.warp].mask;
    events::publish_exit(*launch.observers, event, w.number);
  }
}

}  // namespace

void publish_passed(const Worker& w, Block& b, Barrier& barrier) {
  const Launch& launch = *w.launch;
  events::BarrierPassed event{&launch.info, Dim3{b.index[0], b.index[1], b.index[2]},
                              static_cast<std::uint32_t>(&barrier - b.barriers)};
  if (barrier.whole_site != ~0u && barrier.arrived == launch.threads_per_block) {
    event.site = barrier.whole_site;
  } else {
    publish_waiting(w, barrier);
    publish_left(w, b);
  }
  if (launch.wants.barriers_passed) events::publish_barrier_passed(*launch.observers, event, w.number);
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

// Called by machine code if observed and if all needed lanes already run together. WarpContext::members holds the mask
// that each lane names.
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
  if (launch.wants.whole_blocks && mask == c.initial_mask) {
    Block& block = *fiber_of(c).block;
    block.left |= 1u << c.warp;
    block.left_site = site;
    return;
  }
  events::Exit event;
  static_cast<events::WarpEvent&>(event) = warp_event(c, site, mask);
  event.live = live_lanes(c) & ~mask;
  events::publish_exit(*launch.observers, event, worker_of(c).number);
}
