// Link terms, for memory outside the GPU. A kernel accesses pinned host memory and memory of other GPUs over a link
// each time. Managed memory on the host migrates when a kernel touches it.
#include <algorithm>

#include "timing/terms/terms.h"

namespace warpgrind::timing {
namespace {

// The first page fault migrates 64 KiB. Each further round migrates twice as much around it, up to a block of 2 MiB.
// Further blocks migrate while others are in flight. On an H200, 1 MiB takes 0.43 ms, 16 MiB 1.90 ms, 64 MiB 6.6 to
// 7.9 ms. Source (the driver's tree prefetcher): Ganguly et al., "Interplay between Hardware Prefetcher and Page
// Eviction Policy in CPU-GPU Unified Virtual Memory", ISCA 2019.
constexpr double kFirstBytes = 64 * 1024;
constexpr double kMostFaultRounds = 6;

double rounds_of_faults(double bytes) {
  double rounds = 1;
  for (double moved = kFirstBytes; moved < bytes && rounds < kMostFaultRounds; moved *= 2) ++rounds;
  return rounds;
}

}  // namespace

// Both directions of a link work at the same time.
void add_link_terms(Terms& t, const Setting& s) {
  const LaunchWork& w = s.work;
  const TimingConstants& c = s.model.timing;
  t[Limit::host_link] = std::max(w.host_read_bytes / c.mapped_read_gbps, w.host_write_bytes / c.mapped_write_gbps);
  // GPUs without a direct link access each other at the speed of the host's link.
  if (w.peer_bytes > 0)
    t[Limit::peer_link] = w.peer_bytes / (c.peer_copy_gbps > 0 ? c.peer_copy_gbps : c.mapped_read_gbps);
  if (w.migrated_bytes > 0)
    t[Limit::migration] =
        c.migration_gbps > 0
            ? rounds_of_faults(w.migrated_bytes) * c.page_fault_ns + w.migrated_bytes / c.migration_gbps
            : c.pinned_to_device_latency_ns + w.migrated_bytes / c.pinned_to_device_gbps;
}

double link_latency_cycles(const Setting& s) {
  return s.model.timing.mapped_latency_ns / s.cycle_ns;
}

}  // namespace warpgrind::timing
