// Atomics of global memory, done at L2: a rate of sectors, and one place after the other where many want the same.
#include <algorithm>

#include "timing/terms/terms.h"

namespace warpgrind::timing {

void add_atomics_term(Terms& t, const Setting& s) {
  const LaunchWork& w = s.work;
  const TimingConstants& c = s.model.timing;
  if (w.atomic_sectors <= 0 || w.atomic_requests <= 0) return;
  const double a_request = w.atomic_sectors / w.atomic_requests;
  const double rate = c.atom_sectors_per_ns * w.atomic_returns + c.red_sectors_per_ns * (1 - w.atomic_returns);
  double ns = w.atomic_sectors / rate;
  // Requests on one sector follow each other; four times as fast where the lanes of a request fill their lines.
  if (w.atomic_distinct_sectors > 0 && a_request > 1.05)
    ns = std::max(ns, w.atomic_sectors / w.atomic_distinct_sectors * c.hot_sector_ns / (a_request > 4.5 ? 1 : 4));
  // All lanes on one address.
  if (a_request < 1.05 && w.atomic_lanes / w.atomic_requests > 8)
    ns = std::max(ns, w.atomic_requests * c.hot_atomic_ns);
  t[Limit::atomics] = ns;
}

}  // namespace warpgrind::timing
