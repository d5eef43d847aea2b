#include "results/launch_values.h"

namespace warpgrind::results {

namespace {

// Ignores the log, which the caches' results follow from.
bool same(const events::LaunchCounts& a, const events::LaunchCounts& b) {
  return a.blocks_run == b.blocks_run && a.warps_launched == b.warps_launched &&
         a.threads_launched == b.threads_launched && a.sites == b.sites && a.blocks == b.blocks &&
         a.guard_lanes == b.guard_lanes && a.branches == b.branches && a.edges == b.edges &&
         a.slow_paths == b.slow_paths && a.caches == b.caches;
}

// Ignores the occupancy, which follows from the rest.
bool same(const counters::LaunchShape& a, const counters::LaunchShape& b) {
  return a.model == b.model && a.grid == b.grid && a.block == b.block && a.static_shared == b.static_shared &&
         a.dynamic_shared == b.dynamic_shared && a.local_bytes == b.local_bytes && a.registers == b.registers &&
         a.registers_from_binary == b.registers_from_binary && a.carveout_percent == b.carveout_percent &&
         a.code == b.code && a.spills == b.spills;
}

}  // namespace

const LaunchValues::Of& LaunchValues::of(const counters::LaunchShape& shape, const events::KernelFacts& facts,
                                         const events::LaunchCounts& counts) {
  if (gone_.again()) last_.clear();
  const auto [at, fresh] = last_.try_emplace(&facts);
  Last& last = at->second;
  if (fresh || !same(shape, last.shape) || !same(counts, last.counts)) {
    last.shape = shape;
    last.counts = counts;
    last.of = {counters::launch_values(shape, facts, counts), counters::machine_accesses(shape, facts, counts)};
  }
  return last.of;
}

}  // namespace warpgrind::results
