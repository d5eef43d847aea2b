// Bulk and tensor copies: the throughput of an SM's tensor memory accelerator, and the time that a block waits for its
// copies. All constants are cycles of an H200, chosen by hand for the copies and rings of
// lab/results/h200/asynchronous.csv. Neither the products there nor the topic hgemm took part; docs/accuracy.md has the
// scores.
#include <algorithm>
#include <cmath>

#include "timing/terms/terms.h"

namespace warpgrind::timing {
namespace {

// Throughput of the unit: cycles of a copy, and of a line of 128 bytes; bytes per cycle.
constexpr double kLoad = 50, kStore = 20, kLoadLine = 1.2, kLoadBytes = 107, kStoreLine = 3.4, kStoreBytes = 31;
// A loading copy takes longer than a load: the map, the way of its bytes, the change of the mbarrier.
constexpr double kMore = 20, kArrivingBytes = 95;
// The slowest of the requests of many rows to DRAM.
constexpr double kManyRows = 150;
// Until one warp knows of the bytes, another knows that they were used, and copies to their place again.
constexpr double kHandOver = 330;
// Part of a warp's path that cannot go on beside its copies.
constexpr double kBehindCopy = 0.3;
// Exponent of the norm of a warp's path and the turns of its ring.
constexpr double kTurnsNorm = 6;
constexpr double kPieceOfDram = 64;  // of DRAM

// Part of the copies that wait for DRAM. Of each piece, only the first copy does.
double far_part(const Setting& s, double fresh) {
  const LaunchWork& w = s.work;
  const double row = std::clamp(w.copy_load_bytes / w.copy_load_rows, kSectorBytes, kPieceOfDram);
  // Blocks that run together may read the same data, but not more often than all copies do.
  const double at_once = std::min(w.blocks, s.model.sm_count * s.placed.resident);
  const double most = w.read_sectors * at_once / std::max(1.0, w.l2_read_sectors);
  return std::min(w.copy_new * fresh, most) * row / kPieceOfDram;
}

// Cycles from a copy's begin until a waiting warp goes on. latency: of a load. fresh: part of new data that is in DRAM.
double copy_latency(const Setting& s, double fresh) {
  const LaunchWork& w = s.work;
  const TimingConstants& c = s.model.timing;
  const double rows = w.copy_load_rows / w.copy_loads, phases = w.blocks * w.copy_turns * w.copy_places;
  const double far = c.dram_latency_cycles - c.l2_latency_cycles + kManyRows * std::min(1.0, (rows - 1) / 16);
  return c.l2_latency_cycles + kMore + far_part(s, fresh) * std::max(0.0, far) +
         w.copy_load_bytes / phases / kArrivingBytes;
}

}  // namespace

void add_copies_term(Terms& t, const Setting& s) {
  const LaunchWork& w = s.work;
  const double loads = std::max({w.copy_loads * kLoad, w.copy_load_rows * kLoadLine, w.copy_load_bytes / kLoadBytes});
  const double stores =
      std::max({w.copy_stores * kStore, w.copy_store_rows * kStoreLine, w.copy_store_bytes / kStoreBytes});
  t[Limit::copies] = s.cycles((loads + stores) * s.placed.share);
}

double first_copy_cycles(const Setting& s) {
  return copy_latency(s, 1) + kHandOver;
}

double copy_wait_cycles(const Setting& s, double path, double fresh) {
  const LaunchWork& w = s.work;
  if (w.copy_turns <= 0 || w.copy_loads <= 0) return path;
  const double products = w.tensor_half * w.warps_per_block * s.model.timing.tensor_cycles;
  const double copy = copy_latency(s, fresh) + (w.warps_per_block > 1 ? kHandOver : 0);
  const double turns = w.copy_turns * copy + (products + kBehindCopy * path) / std::max(1.0, w.copy_places);
  return std::pow(std::pow(path, kTurnsNorm) + std::pow(turns, kTurnsNorm), 1 / kTurnsNorm) + (turns > path ? 0 : copy);
}

}  // namespace warpgrind::timing
