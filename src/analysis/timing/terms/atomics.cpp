// Time of atomics on global memory, which L2 executes: limited by a rate of sectors, and serial if many go to one
// place.
#include <algorithm>

#include "timing/terms/terms.h"

namespace warpgrind::timing {
namespace {

// Sectors of one unit of L2 (512 bytes). Measured by calibrate.cu on an H200 and an H100: a request for 32 sectors of
// 1 KiB takes 11.1 ns, one for the 4 sectors of a line 2.64 ns. With units of 512 bytes that is 0.69 and 0.66 ns per
// sector.
constexpr double kUnitSectors = 16;
// Time from one success of a loop of compare-and-swap on a word to the next, and more of it for each warp that contends
// for the sector. On an H200: 0.31 us for 8 warps, 0.35 for 32 and 132, 0.5 to 1.1 for 256, 1.5 for 528 and 1056.
constexpr double kCasTurn = 330, kCasWarp = 2, kCasMost = 1200;

// The unit with most of them takes longest. Lanes on one word take turns there, a sector each; where they add
// floating-point numbers, each waits for the one before. Measured: lab/results/h200/atomics.csv.
double of_hot_places(const LaunchWork& w, const TimingConstants& c) {
  return std::max(w.atomic_sectors * w.atomic_hot_unit / kUnitSectors * c.hot_sector_ns,
                  w.atomic_sectors * w.atomic_hot_sector / kWarpSize * c.hot_atomic_float_ns);
}

// Where only their number is known.
double of_even_places(const LaunchWork& w, const TimingConstants& c, double a_request) {
  const double lanes = w.atomic_lanes / w.atomic_requests, turns = w.atomic_requests / w.atomic_distinct_sectors;
  // More rounds than distinct sectors: floating-point operations of several lanes on one address, which L2 executes one
  // by one.
  if (a_request > 1.05 * w.atomic_distinct_sectors) return turns * c.hot_atomic_float_ns * lanes / kWarpSize;
  // Adjacent sectors share a unit, which handles them serially, however many lanes each serves.
  if (a_request > 1.05) return w.atomic_sectors / std::max(w.atomic_distinct_sectors, kUnitSectors) * c.hot_sector_ns;
  // All lanes on one address, or one lane per warp: requests to the same sector are serial at L2.
  return turns * c.hot_atomic_ns * lanes / kWarpSize;
}

}  // namespace

void add_atomics_term(Terms& t, const Setting& s) {
  const LaunchWork& w = s.work;
  const TimingConstants& c = s.model.timing;
  if (w.atomic_sectors <= 0 || w.atomic_requests <= 0) return;
  const double a_request = w.atomic_sectors / w.atomic_requests;
  const double rate = c.atom_sectors_per_ns * w.atomic_returns + c.red_sectors_per_ns * (1 - w.atomic_returns);
  double ns = w.atomic_sectors / rate;
  if (w.atomic_hot_unit > 0)
    ns = std::max(ns, of_hot_places(w, c));
  else if (w.atomic_distinct_sectors > 0)
    ns = std::max(ns, of_even_places(w, c, a_request));
  t[Limit::atomics] = std::max(ns, w.cas_turns * (kCasTurn + std::min(kCasMost, kCasWarp * w.cas_warps)));
}

}  // namespace warpgrind::timing
