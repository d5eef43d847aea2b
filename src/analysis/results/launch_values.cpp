#include "results/launch_values.h"

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "counters/machine_counters.h"

namespace warpgrind::results {

namespace {

template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(std::uint64_t) == 0);  // no padding
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

bool same(const events::CacheCounts& a, const events::CacheCounts& b) {
  return std::memcmp(&a, &b, offsetof(events::CacheCounts, sites)) == 0 && same(a.sites, b.sites);
}

bool same(const events::LaunchCounts& a, const events::LaunchCounts& b) {
  return a.blocks_run == b.blocks_run && a.warps_launched == b.warps_launched &&
         a.threads_launched == b.threads_launched && same(a.sites, b.sites) && same(a.blocks, b.blocks) &&
         same(a.guard_lanes, b.guard_lanes) && same(a.branches, b.branches) && same(a.edges, b.edges) &&
         a.caches.has_value() == b.caches.has_value() && (!a.caches || same(*a.caches, *b.caches));
}

// Ignores the occupancy, which follows from the rest.
bool same(const counters::LaunchShape& a, const counters::LaunchShape& b) {
  return a.model == b.model && a.grid == b.grid && a.block == b.block && a.static_shared == b.static_shared &&
         a.dynamic_shared == b.dynamic_shared && a.local_bytes == b.local_bytes && a.registers == b.registers &&
         a.registers_from_binary == b.registers_from_binary && a.carveout_percent == b.carveout_percent &&
         a.code == b.code;
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
