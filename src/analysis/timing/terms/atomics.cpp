// Atomics of global memory, done at L2: a rate of sectors, and one place after the other where many want the same.
#include <algorithm>

#include "timing/terms/terms.h"

namespace warpgrind::timing {
namespace {

// calibrate.cu on an H200 and an H100: a request for 32 sectors of 1 KiB takes 11.1 ns, one for the 4 of a line 2.64:
// 0.69 and 0.66 ns a sector where 512 bytes are one unit's.
constexpr double kUnitSectors = 16;

}  // namespace

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
  // Sectors beside each other share a unit, which takes them one after the other, however many lanes each is for.
  if (!in_turns && w.atomic_distinct_sectors > 0 && a_request > 1.05)
    ns = std::max(ns, w.atomic_sectors / std::max(w.atomic_distinct_sectors, kUnitSectors) * c.hot_sector_ns);
  // All lanes on one address, or one lane of each warp: as many turns at L2.
  if (a_request < 1.05 && w.atomic_distinct_sectors > 0)
    ns = std::max(ns, w.atomic_requests / w.atomic_distinct_sectors * c.hot_atomic_ns * lanes / kWarpSize);
  t[Limit::atomics] = ns;
}

}  // namespace warpgrind::timing
