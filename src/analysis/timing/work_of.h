// Computation of a launch's work (LaunchWork) from its counts, its machine code and the modelled caches.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "events/access_log.h"
#include "events/cache_counts.h"
#include "events/kernels_gone.h"
#include "events/scoreboard.h"
#include "events/site.h"
#include "gpu/occupancy.h"
#include "sass/code.h"
#include "sass/spills.h"
#include "timing/launch_work.h"
#include "timing/warp_path.h"

namespace warpgrind::timing {

// Distinct bytes of global memory that a kernel may touch, in GPU memory and in mapped host memory: e.g. the sizes of
// the allocations its pointer parameters point into. 0: unknown.
struct Footprint {
  std::uint64_t device = 0, host = 0;
  std::uint64_t total() const { return device + host; }
  bool operator==(const Footprint&) const = default;
};

struct LaunchSeen {
  const sass::Code* code = nullptr;  // null: nothing was counted; only the shape is known
  const events::KernelFacts* facts = nullptr;
  const events::LaunchCounts* counts = nullptr;
  const events::CacheCounts* caches =
      nullptr;  // null: not modelled; then L1 has no hits, and L2 misses the footprint once
  Occupancy occupancy;
  std::uint64_t blocks = 1, threads_per_block = 1;
  Footprint footprint;
  const std::vector<events::FarAccesses>* far = nullptr;  // by site; null: unknown, use `footprint`
  double migrated_bytes = 0;                              // managed memory that migrates for the launch
  const sass::Spills* spills = nullptr;                   // of `code`; null: none
};

// Share of the loads of spilled registers that miss L1. A warp reuses its slots in local memory, so loads hit as far as
// the slots of the resident threads fit. `work` gives the shape; `bytes`: spilled of each thread; `shared_bytes`: the
// part of L1 that is shared memory.
double spilled_load_misses(const GpuModel& model, const LaunchWork& work, double bytes, double shared_bytes);

// Reader of launches. It caches each kernel's warp path while launches are equal. Not thread-safe. The address of a
// kernel's facts identifies it until a kernel is destroyed (events/kernels_gone.h).
class WorkReader {
 public:
  explicit WorkReader(const GpuModel& model) : model_(model) {}
  LaunchWork read(const LaunchSeen& launch);

 private:
  struct Kernel {
    std::vector<double> like;  // key of `path`: warps by block, waiting_part by site, warps per block
    WarpPath path;
    ScheduledBlocks scheduled;
  };
  const GpuModel& model_;
  events::KernelsGone gone_;
  std::map<const events::KernelFacts*, Kernel> kernels_;
};

}  // namespace warpgrind::timing
