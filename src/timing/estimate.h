// The time of a launch on a GPU that is not there: from what it asks of the GPU (timing/launch_work.h), by the terms of
// timing/terms. Every figure that comes from here carries the origin `estimated`; how good it is: docs/accuracy.md.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/gpu_model.h"
#include "timing/fitted.h"
#include "timing/launch_work.h"
#include "timing/terms/terms.h"

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
};

KernelEstimate estimate_kernel(const GpuModel& model, const LaunchWork& work, const L2State& l2 = {},
                               const Fitted& fitted = {});

enum class CopyPath : std::uint8_t { host_to_device, device_to_host, device_to_device, peer, host_to_host };
enum class HostMemory : std::uint8_t { pageable, pinned };

// Nanoseconds of one copy on the GPU's timeline: latency + bytes over the bandwidth of the path.
double estimate_copy_ns(const GpuModel& model, CopyPath path, HostMemory host, std::uint64_t bytes);
double estimate_memset_ns(const GpuModel& model, std::uint64_t bytes);

}  // namespace warpgrind::timing
