// A first estimate of time on a GPU that is not there: a roofline over the exact counts. Every figure that comes from
// here carries the origin `estimated`. Caches are not simulated: what is read again is taken as a cache hit as far as
// the footprint says so. Constants and their sources are at the top of estimate.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "events/scoreboard.h"
#include "events/site.h"
#include "gpu/gpu_model.h"
#include "gpu/occupancy.h"

namespace warpgrind::timing {

// What can bind a kernel. Times are of the whole kernel if nothing else took any.
enum class Limit : std::uint8_t {
  dram_bandwidth,
  l2_bandwidth,
  l1_throughput,        // 128-byte lines looked up in L1, or 1.x/2.x transactions
  shared_throughput,    // shared memory wavefronts
  constant_throughput,  // different addresses of constant loads, one a cycle
  atomics,
  host_link,  // accesses to mapped host memory
  fp32,
  fp64,
  integer,
  special_functions,  // transcendental units, conversions
  issue,              // warp instructions over the schedulers
  latency,            // too few warps in flight to hide memory and instruction latency
  launch              // nothing else takes longer than the launch itself
};
const char* name(Limit limit);  // "DRAM bandwidth", ...

struct Bound {
  Limit limit = Limit::launch;
  double ns = 0;
};

struct KernelEstimate {
  double ns = 0;  // the longest bound + launch latency
  Limit limit = Limit::launch;
  std::vector<Bound> bounds;  // longest first
  double dram_bytes = 0;      // assumed
};

// Distinct bytes of global memory a kernel may touch, e.g. the sizes of the allocations its pointer parameters point
// into: in GPU memory, in mapped host memory. None: unknown, every sector is taken to come from DRAM.
struct Footprint {
  std::uint64_t device = 0, host = 0;
  std::uint64_t total() const { return device + host; }
};

KernelEstimate estimate_kernel(const GpuModel& model, const events::KernelFacts& facts,
                               const events::LaunchCounts& counts, const Occupancy& occupancy, std::uint64_t blocks,
                               const Footprint& footprint = {});

enum class CopyPath : std::uint8_t { host_to_device, device_to_host, device_to_device, peer, host_to_host };
enum class HostMemory : std::uint8_t { pageable, pinned };

// Nanoseconds of one copy on the GPU's timeline: latency + bytes over the bandwidth of the path.
double estimate_copy_ns(const GpuModel& model, CopyPath path, HostMemory host, std::uint64_t bytes);
double estimate_memset_ns(const GpuModel& model, std::uint64_t bytes);

}  // namespace warpgrind::timing
