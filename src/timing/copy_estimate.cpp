// Copies and fills.
#include <algorithm>

#include "timing/estimate.h"

namespace warpgrind::timing {

double estimate_copy_ns(const GpuModel& m, CopyPath path, HostMemory host, std::uint64_t bytes) {
  const double n = static_cast<double>(bytes);
  // Latencies are those between two events, which take their own time on the timeline.
  const double latency = std::max(0.0, m.copy_latency_us * 1e3 - m.timing.event_pair_ns);
  // The driver copies small pageable buffers through its own pinned ones at the pinned rate.
  constexpr double kStagedBytes = 64 * 1024;
  switch (path) {
    case CopyPath::host_to_device:
    case CopyPath::device_to_host: {
      const double pinned = host == HostMemory::pinned ? n : std::min(n, kStagedBytes);
      return latency + pinned / m.link_gbps_pinned + (n - pinned) / m.link_gbps_pageable;
    }
    case CopyPath::device_to_device:  // read and written
      return m.timing.next_launch_ns + 2 * n / (m.theoretical_bandwidth() * m.achievable_bandwidth_fraction * 1e-9);
    case CopyPath::peer:
      return latency + n / (m.peer_gbps > 0 ? m.peer_gbps : m.link_gbps_pinned / 2);
    case CopyPath::host_to_host:
      return n / m.link_gbps_pageable;
  }
  return latency;
}

double estimate_memset_ns(const GpuModel& m, std::uint64_t bytes) {
  const double rate =
      m.timing.fill_gbps > 0 ? m.timing.fill_gbps : m.theoretical_bandwidth() * m.achievable_bandwidth_fraction * 1e-9;
  return std::max(0.0, m.timing.fill_latency_ns - m.timing.event_pair_ns) + static_cast<double>(bytes) / rate;
}

}  // namespace warpgrind::timing
