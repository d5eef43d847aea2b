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
  const double lanes = w.atomic_lanes / w.atomic_requests;
  // More rounds than there are sectors: floating-point operations of lanes on one address, which L2 does one by one.
  const bool in_turns = w.atomic_distinct_sectors > 0 && a_request > 1.05 * w.atomic_distinct_sectors;
  if (in_turns)
    ns = std::max(ns, w.atomic_requests / w.atomic_distinct_sectors * c.hot_atomic_float_ns * lanes / kWarpSize);
  // Requests on one sector follow each other; four times as fast where the lanes of a request fill their lines.
  if (!in_turns && w.atomic_distinct_sectors > 0 && a_request > 1.05)
    ns = std::max(ns, w.atomic_sectors / w.atomic_distinct_sectors * c.hot_sector_ns / (a_request > 4.5 ? 1 : 4));
  // All lanes on one address, or one lane of each warp: as many turns at L2.
  if (a_request < 1.05 && w.atomic_distinct_sectors > 0)
    ns = std::max(ns, w.atomic_requests / w.atomic_distinct_sectors * c.hot_atomic_ns * lanes / kWarpSize);
  t[Limit::atomics] = ns;
}

}  // namespace warpgrind::timing
