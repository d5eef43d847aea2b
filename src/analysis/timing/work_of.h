// What a launch asked of the GPU, from its counts, its machine code and the modelled caches.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "events/cache_counts.h"
#include "events/scoreboard.h"
#include "events/site.h"
#include "gpu/occupancy.h"
#include "machine/code.h"
#include "timing/launch_work.h"
#include "timing/warp_path.h"

namespace warpgrind::timing {

// Distinct bytes of global memory a kernel may touch, e.g. the sizes of the allocations its pointer parameters point
// into: in GPU memory, in mapped host memory. None: unknown.
struct Footprint {
  std::uint64_t device = 0, host = 0;
  std::uint64_t total() const { return device + host; }
  bool operator==(const Footprint&) const = default;
};

// What the memory is that a site accesses.
enum class SiteMemory : std::uint8_t { own, host, peer };

struct LaunchSeen {
  const machine::Code* code = nullptr;  // null: nothing was counted, and only the shape is known
  const events::KernelFacts* facts = nullptr;
  const events::LaunchCounts* counts = nullptr;
  const events::CacheCounts* caches =
      nullptr;  // null: not modelled; L1 then catches nothing, L2 what the footprint says
  Occupancy occupancy;
  std::uint64_t blocks = 1, threads_per_block = 1;
  Footprint footprint;
  const std::vector<SiteMemory>* memories = nullptr;  // by site; null: not known, and `footprint` decides
  double migrated_bytes = 0;                          // of managed memory that is moved for it
};

// Keeps what it has found out about kernels: the path of a warp while launches are alike. Not thread-safe. Kernels are
// known by their facts, which have to stay.
class WorkReader {
 public:
  explicit WorkReader(const GpuModel& model) : model_(model) {}
  LaunchWork read(const LaunchSeen& launch);

 private:
  struct Kernel {
    std::vector<double> like;  // warps by block and new sectors by site of the launch that `path` is of
    WarpPath path;
  };
  const GpuModel& model_;
  std::map<const events::KernelFacts*, Kernel> kernels_;
};

}  // namespace warpgrind::timing
