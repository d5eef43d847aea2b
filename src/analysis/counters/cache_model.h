// The caches of a GPU, as far as the addresses of a kernel decide what they do: L1 of an SM (sectored, cold when the
// launch begins, written through; loads bring sectors in), textures in it or in a cache of their own, L2, and what DRAM
// then reads and writes. Fed with the accesses of some blocks (events/access_log.h); the figures are scaled to the
// whole launch by the exact counts of each site, and which memory the launch touches is worked out by
// counters/footprint.h. Modelled: warps take turns request by request, where hardware is less regular. How far that is
// from an H200's counters: docs/accuracy-caches.md.
#pragma once

#include <cstdint>
#include <optional>

#include "events/access_log.h"
#include "events/cache_counts.h"
#include "events/scoreboard.h"
#include "events/site.h"
#include "gpu/gpu_model.h"
#include "gpu/occupancy.h"

namespace warpgrind::counters {

struct CacheSizes {
  std::uint64_t l1_bytes = 0;       // of an SM in this launch: without its shared memory
  std::uint64_t texture_bytes = 0;  // 0: textures use L1
  std::uint64_t l2_bytes = 0;
  std::uint32_t resident_blocks = 1;  // of an SM
};
CacheSizes cache_sizes(const GpuModel& model, const Occupancy& occupancy);

events::CacheCounts model_caches(const GpuModel& model, const CacheSizes& sizes, const events::KernelFacts& facts,
                                 const events::LaunchCounts& counts, const events::AccessLog& log);

// The same of a launch that may repeat the one that was logged: its log is worked through once, and dropped.
std::optional<events::CacheCounts> caches_of(const GpuModel& model, const CacheSizes& sizes,
                                             const events::KernelFacts& facts, const events::LaunchCounts& counts,
                                             const events::AccessLog& log);

}  // namespace warpgrind::counters
