// The time of a launch on a GPU that is not there: from what it asks of the GPU (timing/launch_work.h), by the terms of
// timing/terms. Every figure that comes from here carries the origin `estimated`; how good it is: docs/accuracy.md.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/gpu_model.h"
#include "timing/fitted.h"
#include "timing/launch_work.h"
#include "timing/terms/terms.h"
#include "timing/timeline.h"

namespace warpgrind::timing {

struct Bound {
  Limit limit = Limit::launch;
  double ns = 0;  // what the kernel would take if nothing else took any time
};

struct KernelEstimate {
  double ns = 0;                   // the kernel's duration, as a profiler gives it (gpu__time_duration)
  double event_ns = 0;             // what two events around it show when nothing else runs
  double queued_ns = 0;            // what it adds to the time of a stream that is busy already
  double low_ns = 0, high_ns = 0;  // 10 to 90 % of the real durations lie between them (timing/interval.h)
  Limit limit = Limit::launch;
  std::vector<Bound> bounds;   // longest first
  double dram_bytes = 0;       // read and written
  double allocated_bytes = 0;  // lines of L2 that the launch takes
  void add(double more_ns);    // to all times
  // What it adds as a node of a graph that depends on another node.
  double chained_ns(const GpuModel& model) const {
    return queued_ns - model.timing.next_launch_ns + model.timing.graph_kernel_ns;
  }
};

KernelEstimate estimate_kernel(const GpuModel& model, const LaunchWork& work, const L2State& l2 = {},
                               const Fitted& fitted = {});

enum class CopyPath : std::uint8_t { host_to_device, device_to_host, device_to_device, peer, host_to_host };
enum class HostMemory : std::uint8_t { pageable, pinned };

// What one copy takes. Pageable memory goes through buffers of the driver, which the host fills or empties: its call
// returns when that is done, but for a small copy to the device, whose bytes the call takes along.
struct CopyEstimate {
  CopyTime time;
  double staging_ns = 0;       // of the host, before the GPU begins
  bool returns_early = false;  // a call that waits returns when the bytes are staged, not when they have arrived
};
CopyEstimate estimate_copy(const GpuModel& model, CopyPath path, HostMemory host, std::uint64_t bytes);
// Managed memory that is moved ahead of its use: so many bytes that are not where they should be.
CopyTime estimate_prefetch(const GpuModel& model, std::uint64_t bytes);
double estimate_memset_ns(const GpuModel& model, std::uint64_t bytes);
TimelineCosts timeline_costs(const GpuModel& model);

}  // namespace warpgrind::timing
