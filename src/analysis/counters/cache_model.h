// Model of a GPU's caches, driven by a kernel's addresses. Parts: the L1 of each SM (sectored, cold at launch, written
// through, filled by loads), textures in L1 or in a cache of their own, L2, and the traffic of DRAM. Input: the
// accesses of some blocks (events/access_log.h). The results are scaled to the whole launch by the exact counts of each
// site; counters/footprint.h extrapolates the touched memory. Origin: modelled, because warps take turns request by
// request here, while hardware is less regular. Accuracy against an H200's counters: docs/accuracy-caches.md.
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
  std::uint64_t l1_bytes = 0;       // per SM in this launch, without shared memory
  std::uint64_t texture_bytes = 0;  // 0: textures use L1
  std::uint64_t l2_bytes = 0;
  std::uint32_t resident_blocks = 1;  // per SM
};
CacheSizes cache_sizes(const GpuModel& model, const Occupancy& occupancy);

events::CacheCounts model_caches(const GpuModel& model, const CacheSizes& sizes, const events::KernelFacts& facts,
                                 const events::LaunchCounts& counts, const events::AccessLog& log);

// As model_caches(), for a launch that may repeat the logged one. The first call models the log, keeps the result and
// drops the log. nullopt: nothing was logged.
std::optional<events::CacheCounts> caches_of(const GpuModel& model, const CacheSizes& sizes,
                                             const events::KernelFacts& facts, const events::LaunchCounts& counts,
                                             const events::AccessLog& log);

}  // namespace warpgrind::counters
