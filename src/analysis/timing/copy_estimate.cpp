// Copies and fills: what the model's `timing` section says of the links (measured by lab/calibrate), put together as
// the lab's topics `transfer` and `streams` show it on an H200 (lab/results/h200/lab-full.json).
#include <algorithm>

#include "timing/estimate.h"

namespace warpgrind::timing {
namespace {

// A call takes the bytes of a small pageable buffer along and returns: CUDA Runtime API, "API synchronization
// behavior", gives 64 KB.
constexpr std::uint64_t kTakenAlong = 64 * 1024;
// Small copies to the device go with the commands of the stream and need no copy engine: on an H200 1 KiB behind a
// kernel takes 4 us by events, 64 KiB 12 us. Where between them the limit lies is assumed.
constexpr std::uint64_t kWithCommands = 8 * 1024;

double between_events(const TimingConstants& c, double ns) {
  return std::max(0.0, ns - c.event_pair_ns);  // events take their own time on the timeline
}

CopyEstimate pinned(const TimingConstants& c, double bytes, bool to_device) {
  CopyEstimate e;
  const double transfer = bytes / (to_device ? c.pinned_to_device_gbps : c.pinned_to_host_gbps);
  e.time.alone = between_events(c, c.pinned_to_device_latency_ns) + transfer;
  e.time.queued = std::min(e.time.alone, c.next_copy_ns + transfer);
  e.time.with_commands = to_device && bytes <= static_cast<double>(kWithCommands);
  return e;
}

// The latencies are the host's, with its call and the return from it.
CopyEstimate pageable(const TimingConstants& c, double bytes, bool to_device) {
  CopyEstimate e;
  const double host = to_device ? c.pageable_to_device_latency_ns : c.pageable_to_host_latency_ns;
  const double transfer = bytes / (to_device ? c.pageable_to_device_gbps : c.pageable_to_host_gbps);
  e.time.alone = std::max(0.0, host - c.host_wait_ns - kHostCallNs) + transfer;
  e.time.queued = e.time.alone;  // the host brings or takes every piece of it
  if (!to_device || bytes > static_cast<double>(kTakenAlong)) return e;
  e = pinned(c, bytes, to_device);
  e.staging_ns = transfer;
  e.returns_early = true;
  return e;
}

// Without a link of their own, GPUs copy through page-locked memory of the host.
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
    case CopyPath::device_to_device:  // a kernel of the driver's: read and written
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
  // A copy of 4 bytes to the device goes with the commands, one to the host changes from kernels to an engine.
  costs.engine_switch = std::max(0.0, c.pinned_to_host_latency_ns - c.pinned_to_device_latency_ns);
  // The word that work has ended is a copy of 4 bytes.
  costs.other_gpu = between_events(c, c.peer_copy_gbps > 0 ? c.peer_copy_latency_ns : c.pinned_to_host_latency_ns);
  return costs;
}

}  // namespace warpgrind::timing
