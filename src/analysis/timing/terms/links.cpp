// Memory that is not the GPU's own: page-locked memory of the host and memory of other GPUs, which a kernel reaches
// over a link at each access, and managed memory that lies on the host and is moved when a kernel touches it.
#include <algorithm>

#include "timing/terms/terms.h"

namespace warpgrind::timing {
namespace {

// Faults of one page bring 64 KiB; each round of them then twice as much around it, up to a block of 2 MiB (the
// driver's tree of neighbours: Ganguly et al., "Interplay between Hardware Prefetcher and Page Eviction Policy in
// CPU-GPU Unified Virtual Memory", ISCA 2019). Blocks further on come while others are under way: on an H200 16 MiB
// take 1.90 ms, 64 MiB 6.6 to 7.9 ms, 1 MiB 0.43 ms.
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
  // Without a link of their own, GPUs reach each other as they reach the host.
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
