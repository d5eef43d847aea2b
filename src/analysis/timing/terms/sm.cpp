// SM terms: throughput of the schedulers' issue slots and of the integer, floating-point and matrix pipes. Rates per
// cycle and SM come from the GPU model. A warp instruction takes 32 / (lanes of a scheduler) cycles.
#include <algorithm>

#include "timing/terms/terms.h"

namespace warpgrind::timing {
namespace {

// Part of the moves and integer conversions of PTX that reaches the integer pipe: ptxas renames registers instead of
// most moves. Fitted by eye to the lab's rows of an H200.
constexpr double kMoveOnAlu = 0.3;

}  // namespace

void add_sm_terms(Terms& t, const Setting& s) {
  const LaunchWork& w = s.work;
  const GpuModel& m = s.model;
  const double schedulers = std::max(1u, m.schedulers_per_sm);
  const auto cycles_of = [&](std::uint32_t lanes) { return kWarpSize * schedulers / std::max(1u, lanes); };
  const double n = s.placed.warps_per_scheduler;
  const auto term = [&](double a_warp) { return s.cycles(a_warp * n); };
  const double integer = cycles_of(m.cores_int_per_sm), fp32 = cycles_of(m.cores_fp32_per_sm);
  const double imad = w.imad * s.fitted.integer;
  // Since Kepler a scheduler issues one instruction per cycle; before, it needed 32 / lanes cycles.
  const double issue = m.cc_major >= 3 ? 1 : fp32;
  t[Limit::issue] = term(w.instructions * s.fitted.issue * issue);
  t[Limit::integer] = term((w.alu + kMoveOnAlu * w.moves) * integer * s.fitted.integer);
  t[Limit::fp32] = term(std::max((w.fma + imad) * fp32, imad * integer));
  t[Limit::fp64] = term(w.fp64 * cycles_of(m.cores_fp64_per_sm));
  t[Limit::special_functions] = term(w.special * cycles_of(m.sfu_per_sm));
  // The constants are cycles of an SM, whose schedulers have a tensor core each.
  t[Limit::tensor] =
      term(schedulers * (m.timing.tensor_fp64_cycles * w.tensor_double + m.timing.tensor_cycles * w.tensor_half));
}

}  // namespace warpgrind::timing
