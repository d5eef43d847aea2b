// Addition of dynamic counts: element by element, and by state space.
#include "events/scoreboard.h"

#include <bit>

#include "base/assert.h"

namespace warpgrind::events {

void SiteCounts::add(const SiteCounts& o) {
  requests += o.requests;
  lanes += o.lanes;
  global.add(o.global);
  shared.add(o.shared);
  local.add(o.local);
  joint.add(o.joint);
  global_requests += o.global_requests;
  shared_requests += o.shared_requests;
  local_requests += o.local_requests;
  global_lanes += o.global_lanes;
  shared_lanes += o.shared_lanes;
  local_lanes += o.local_lanes;
  copy_places += o.copy_places;
}

void SiteCounts::add(StateSpace space, const AccessCost& cost, LaneMask mask, std::uint64_t times,
                     std::uint64_t parts) {
  WG_DEBUG_ASSERT(space != StateSpace::none);
  const std::uint64_t on = static_cast<std::uint64_t>(std::popcount(mask)) * times;
  requests += times;
  lanes += on;
  switch (space) {
    case StateSpace::shared:
      shared.add(cost, times);
      shared_requests += times * parts;
      shared_lanes += on;
      break;
    case StateSpace::local:
      local.add(cost, times);
      local_requests += times * parts;
      local_lanes += on;
      break;
    default:
      global.add(cost, times);
      global_requests += times * parts;
      global_lanes += on;
  }
}

void SlowPathCounts::add(const SlowPathCounts& o) {
  warps += o.warps;
  instructions += o.instructions;
  thread_instructions += o.thread_instructions;
  alu += o.alu;
  fma += o.fma;
  fp64 += o.fp64;
  special += o.special;
}

void LaunchCounts::add(const LaunchCounts& other) {
  WG_ASSERT(sites.size() == other.sites.size() && blocks.size() == other.blocks.size() &&
            edges.size() == other.edges.size());
  WG_ASSERT(guard_lanes.size() == other.guard_lanes.size() && branches.size() == other.branches.size());
  for (std::size_t i = 0; i < sites.size(); ++i) sites[i].add(other.sites[i]);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    blocks[i].warps += other.blocks[i].warps;
    blocks[i].lanes += other.blocks[i].lanes;
  }
  for (std::size_t i = 0; i < edges.size(); ++i) {
    edges[i].warps += other.edges[i].warps;
    edges[i].lanes += other.edges[i].lanes;
  }
  for (std::size_t i = 0; i < guard_lanes.size(); ++i) guard_lanes[i] += other.guard_lanes[i];
  for (std::size_t i = 0; i < branches.size(); ++i) {
    branches[i].executed += other.branches[i].executed;
    branches[i].divergent += other.branches[i].divergent;
    branches[i].taken_lanes += other.branches[i].taken_lanes;
    branches[i].taken += other.branches[i].taken;
  }
  WG_ASSERT(slow_paths.size() == other.slow_paths.size());
  for (std::size_t i = 0; i < slow_paths.size(); ++i) slow_paths[i].add(other.slow_paths[i]);
  warps_launched += other.warps_launched;
  threads_launched += other.threads_launched;
}

}  // namespace warpgrind::events
