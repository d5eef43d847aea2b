#include "events/scoreboard.h"

#include "base/assert.h"

namespace warpgrind::events {

void LaunchCounts::add(const LaunchCounts& other) {
  WG_ASSERT(sites.size() == other.sites.size() && blocks.size() == other.blocks.size() &&
            edges.size() == other.edges.size());
  for (std::size_t i = 0; i < sites.size(); ++i) {
    SiteCounts& a = sites[i];
    const SiteCounts& b = other.sites[i];
    a.requests += b.requests;
    a.lanes += b.lanes;
    a.global.add(b.global);
    a.shared.add(b.shared);
    a.local.add(b.local);
    a.global_requests += b.global_requests;
    a.shared_requests += b.shared_requests;
    a.local_requests += b.local_requests;
    a.global_lanes += b.global_lanes;
    a.shared_lanes += b.shared_lanes;
    a.local_lanes += b.local_lanes;
  }
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
  }
  warps_launched += other.warps_launched;
  threads_launched += other.threads_launched;
}

}  // namespace warpgrind::events
