// Time estimate of a launch on the modelled GPU, from the launch's work (timing/launch_work.h) and the terms of
// timing/terms. All results have the origin `estimated`. Accuracy: docs/accuracy.md.
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
  double ns = 0;  // duration of the kernel if nothing else took any time
};

struct KernelEstimate {
  double ns = 0;                   // the kernel's duration in a profiler (gpu__time_duration)
  double event_ns = 0;             // time between two events around it, if nothing else runs
  double queued_ns = 0;            // time it adds to a busy stream
  double low_ns = 0, high_ns = 0;  // 10th and 90th percentile of the real durations (timing/interval.h)
  Limit limit = Limit::launch;
  std::vector<Bound> bounds;   // longest first
  double dram_bytes = 0;       // read and written
  double allocated_bytes = 0;  // lines of L2 that the launch allocates
  void add(double more_ns);    // adds to all times
  // Time it adds as a node of a graph that depends on another node.
  double chained_ns(const GpuModel& model) const {
    return queued_ns - model.timing.next_launch_ns + model.timing.graph_kernel_ns;
  }
};

KernelEstimate estimate_kernel(const GpuModel& model, const LaunchWork& work, const L2State& l2 = {},
                               const Fitted& fitted = {});

enum class CopyPath : std::uint8_t { host_to_device, device_to_host, device_to_device, peer, host_to_host };
enum class HostMemory : std::uint8_t { pageable, pinned };

// Time of one copy. Pageable memory goes through buffers of the driver, which the host fills or empties; the call
// returns after that. The call of a small copy to the device returns earlier: once its bytes are staged.
struct CopyEstimate {
  CopyTime time;
  double staging_ns = 0;       // work of the host before the GPU begins
  bool returns_early = false;  // a blocking call returns when the bytes are staged, not when they have arrived
};
CopyEstimate estimate_copy(const GpuModel& model, CopyPath path, HostMemory host, std::uint64_t bytes);
// Prefetch of managed memory. bytes: only those that are not at the destination yet.
CopyTime estimate_prefetch(const GpuModel& model, std::uint64_t bytes);
double estimate_memset_ns(const GpuModel& model, std::uint64_t bytes);
TimelineCosts timeline_costs(const GpuModel& model);

}  // namespace warpgrind::timing
