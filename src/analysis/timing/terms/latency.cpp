// Latency term: the critical path of a warp, from its first to its last instruction, times the number of waves. A
// block's slot stays busy a while after its last instruction, and longer if stores must be acknowledged.
#include <algorithm>
#include <array>

#include "timing/terms/terms.h"
#include "timing/warp_path.h"

namespace warpgrind::timing {
namespace {

struct Point {
  double latency, cycles;
};

// Piecewise linear; extrapolates with the slope of the last segment.
double interpolate(const std::array<Point, kPathLatencies.size()>& points, double latency) {
  std::size_t i = 1;
  while (i + 1 < points.size() && latency > points[i].latency) ++i;
  const Point &a = points[i - 1], &b = points[i];
  return a.cycles + (b.cycles - a.cycles) * (latency - a.latency) / (b.latency - a.latency);
}

}  // namespace

// Part of the running blocks' reads that no earlier block has read: only these go to DRAM.
static double fresh_part(const Setting& s) {
  const LaunchWork& w = s.work;
  const double resident = s.model.sm_count * std::max(1.0, w.resident_blocks);
  const double rounds = std::max(1.0, w.blocks / resident), distinct = w.read_sectors * kSectorBytes;
  const double at_once =
      std::min(distinct, w.l2_read_sectors * kSectorBytes / std::max(1.0, w.blocks) * std::min(w.blocks, resident));
  return at_once > 0 ? std::min(1.0, distinct / (rounds * at_once)) * (1 - s.l2.resident) : 0;
}
// Cycles more for a line that nothing has read lately. The constant is of a chain through memory that is read again and
// again. One load a round of lines read once took a warp of an H200 745 to 835 cycles, 700 of which the path has with
// the constant alone (lab/results/h200/batches.csv, one load).
constexpr double kUnread = 55;

// Mean latency of loads that miss L1, in cycles.
static double load_latency(const Setting& s, double fresh) {
  const TimingConstants& c = s.model.timing;
  const double near = fresh * (c.dram_latency_cycles + kUnread) + (1 - fresh) * c.l2_latency_cycles;
  return near + s.work.far_loads * std::max(0.0, link_latency_cycles(s) - near);
}

// A warp's matrix instructions of FP64 occupy the tensor core of its scheduler one after the other, and what depends on
// them does not begin before. The lab's gemm_tensor of 256 on an H200: 37,000 cycles of a warp wait for its products,
// of which the path knows 17,400.
static double matrix_cycles(const Setting& s) {
  return s.work.tensor_double * s.model.timing.tensor_fp64_cycles * std::max(1u, s.model.schedulers_per_sm);
}

static double path_at(const LaunchWork& w, double latency) {
  const auto& at = kPathLatencies;
  return interpolate(
      {{{at[0], w.path_0}, {at[1], w.path_40}, {at[2], w.path_290}, {at[3], w.path_700}, {at[4], w.path_1000}}},
      latency);
}

LoadsOfPath loads_of_path(const Setting& s) {
  constexpr double kStep = 50, kL2 = kPathLatencies[2];  // cycles
  LoadsOfPath loads;
  loads.fresh = fresh_part(s);
  loads.latency = load_latency(s, loads.fresh);
  // Between L2 and DRAM, the path also grows because loads differ more. Beyond, it grows by the waits alone.
  const bool far = loads.latency > kL2;
  const double less = far ? kPathLatencies[3] : std::max(kPathLatencies[1] + 1, loads.latency - kStep);
  const double more = far ? kPathLatencies[4] : std::min(kL2, loads.latency + kStep);
  loads.rounds = std::max(0.0, (path_at(s.work, more) - path_at(s.work, less)) / (more - less));
  return loads;
}

void add_latency_term(Terms& t, const Setting& s) {
  const LaunchWork& w = s.work;
  const TimingConstants& c = s.model.timing;
  const LoadsOfPath loads = loads_of_path(s);
  const double warp = copy_wait_cycles(s, path_at(w, loads.latency) + matrix_cycles(s), loads.fresh);
  const double turnover = c.block_turnover_cycles + (w.l2_write_sectors > 0 ? c.store_ack_cycles : 0);
  const double slowest = loads.latency >= 700 ? w.slowest_700 : w.slowest_290;
  t[Limit::latency] = s.cycles(std::max(0.0, (warp + turnover) * s.placed.waves - c.block_turnover_cycles + slowest));
}

}  // namespace warpgrind::timing
