// Copies and fills.
#include <algorithm>

#include "timing/estimate.h"

namespace warpgrind::timing {

double estimate_copy_ns(const GpuModel& m, CopyPath path, HostMemory host, std::uint64_t bytes) {
  const double n = static_cast<double>(bytes);
  const double latency = m.copy_latency_us * 1e3;
  // The driver copies small pageable buffers through its own pinned ones at the pinned rate.
  constexpr double kStagedBytes = 64 * 1024;
  switch (path) {
    case CopyPath::host_to_device:
    case CopyPath::device_to_host: {
      const double pinned = host == HostMemory::pinned ? n : std::min(n, kStagedBytes);
      return latency + pinned / m.link_gbps_pinned + (n - pinned) / m.link_gbps_pageable;
    }
    case CopyPath::device_to_device:  // read and written
      return m.launch_latency_us * 1e3 + 2 * n / (m.theoretical_bandwidth() * m.achievable_bandwidth_fraction * 1e-9);
    case CopyPath::peer:
      return latency + n / (m.peer_gbps > 0 ? m.peer_gbps : m.link_gbps_pinned / 2);
    case CopyPath::host_to_host:
      return n / m.link_gbps_pageable;
  }
  return latency;
}

double estimate_memset_ns(const GpuModel& m, std::uint64_t bytes) {
  return m.launch_latency_us * 1e3 +
         static_cast<double>(bytes) / (m.theoretical_bandwidth() * m.achievable_bandwidth_fraction * 1e-9);
}

}  // namespace warpgrind::timing
