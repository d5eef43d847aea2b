// Time estimates of copies and fills. Constants: the model's `timing` section (measured by lab/calibrate). Formulas:
// the lab's topics `transfer` and `streams` on an H200 (lab/results/h200/lab-full.json).
#include <algorithm>

#include "timing/estimate.h"

namespace warpgrind::timing {
namespace {

// Largest pageable copy to the device whose call returns before the data arrives: 64 KB by CUDA Runtime API, "API
// synchronization behavior".
constexpr std::uint64_t kTakenAlong = 64 * 1024;
// Small copies to the device travel with the stream's commands and need no copy engine. On an H200, 1 KiB behind a
// kernel takes 4 us between events, 64 KiB 12 us. The exact limit between them is assumed.
constexpr std::uint64_t kWithCommands = 8 * 1024;

double between_events(const TimingConstants& c, double ns) {
  return std::max(0.0, ns - c.event_pair_ns);  // the timeline charges events separately
}

CopyEstimate pinned(const TimingConstants& c, double bytes, bool to_device) {
  CopyEstimate e;
  const double transfer = bytes / (to_device ? c.pinned_to_device_gbps : c.pinned_to_host_gbps);
  e.time.alone = between_events(c, c.pinned_to_device_latency_ns) + transfer;
  e.time.queued = std::min(e.time.alone, c.next_copy_ns + transfer);
  e.time.with_commands = to_device && bytes <= static_cast<double>(kWithCommands);
  return e;
}

// The measured latencies are seen by the host: they include its call and its wait.
CopyEstimate pageable(const TimingConstants& c, double bytes, bool to_device) {
  CopyEstimate e;
  const double host = to_device ? c.pageable_to_device_latency_ns : c.pageable_to_host_latency_ns;
  const double transfer = bytes / (to_device ? c.pageable_to_device_gbps : c.pageable_to_host_gbps);
  e.time.alone = std::max(0.0, host - c.host_wait_ns - kHostCallNs) + transfer;
  e.time.queued = e.time.alone;  // the host moves every piece, so nothing overlaps
  if (!to_device || bytes > static_cast<double>(kTakenAlong)) return e;
  e = pinned(c, bytes, to_device);
  e.staging_ns = transfer;
  e.returns_early = true;
  return e;
}

// GPUs without a direct link copy through pinned host memory.
CopyEstimate peer(const TimingConstants& c, double bytes) {
  CopyEstimate e;
  if (c.peer_copy_gbps > 0) {
    e.time.alone = between_events(c, c.peer_copy_latency_ns) + bytes / c.peer_copy_gbps;
    e.time.queued = std::min(e.time.alone, c.next_copy_ns + bytes / c.peer_copy_gbps);
    return e;
  }
  const CopyEstimate out = pinned(c, bytes, false), in = pinned(c, bytes, true);
  e.time.alone = out.time.alone + in.time.alone;
  e.time.queued = out.time.queued + in.time.queued;
  return e;
}

}  // namespace

CopyEstimate estimate_copy(const GpuModel& m, CopyPath path, HostMemory host, std::uint64_t bytes) {
  const TimingConstants& c = m.timing;
  const double n = static_cast<double>(bytes);
  const bool to_device = path == CopyPath::host_to_device;
  CopyEstimate e;
  switch (path) {
    case CopyPath::host_to_device:
    case CopyPath::device_to_host:
      return host == HostMemory::pinned ? pinned(c, n, to_device) : pageable(c, n, to_device);
    case CopyPath::device_to_device:  // a kernel of the driver, which reads and writes DRAM
      e.time.alone = e.time.queued = c.next_launch_ns + 2 * n / c.dram_copy_gbps;
      return e;
    case CopyPath::peer:
      return peer(c, n);
    case CopyPath::host_to_host:
      e.time.alone = e.time.queued = n / c.pageable_to_device_gbps;
      return e;
  }
  return e;
}

CopyTime estimate_prefetch(const GpuModel& m, std::uint64_t bytes) {
  const double ns = m.timing.prefetch_latency_ns + static_cast<double>(bytes) / m.timing.prefetch_gbps;
  return {ns, ns, false};
}

double estimate_memset_ns(const GpuModel& m, std::uint64_t bytes) {
  return between_events(m.timing, m.timing.fill_latency_ns) + static_cast<double>(bytes) / m.timing.fill_gbps;
}

TimelineCosts timeline_costs(const GpuModel& m) {
  const TimingConstants& c = m.timing;
  TimelineCosts costs;
  costs.host_wait = c.host_wait_ns;
  // Measured with copies of 4 bytes: one to the device travels with the commands, one to the host switches from kernels
  // to a copy engine.
  costs.engine_switch = std::max(0.0, c.pinned_to_host_latency_ns - c.pinned_to_device_latency_ns);
  // The signal between GPUs is taken to cost as much as a copy of 4 bytes.
  costs.other_gpu = between_events(c, c.peer_copy_gbps > 0 ? c.peer_copy_latency_ns : c.pinned_to_host_latency_ns);
  return costs;
}

}  // namespace warpgrind::timing
