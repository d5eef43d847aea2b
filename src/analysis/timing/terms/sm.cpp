// SM terms: throughput of the schedulers' issue slots and of the integer, floating-point and matrix pipes. Rates per
// cycle and SM come from the GPU model. A warp instruction takes 32 / (lanes of a scheduler) cycles.
#include <algorithm>
#include <cmath>

#include "timing/terms/terms.h"

namespace warpgrind::timing {
namespace {

// Issue slots of a scheduler, in cycles of a warp. Since Volta its registers lie in two banks, which deliver one
// operand of 32 bits a cycle each. Instructions wait for each other's operands even if the banks are not always busy:
// on an H200 FADD and FMUL in turns take 1.2 cycles each, FFMA and FADD 1.32, FFMA alone 1.5
// (lab/results/h200/mix.csv).
double issue_cycles(const LaunchWork& w, const Setting& s) {
  constexpr double kBanks = 2, kTogether = 5;
  const double slots = w.instructions * s.fitted.issue;
  if (s.model.cc_major < 7) return slots;
  return std::pow(std::pow(slots, kTogether) + std::pow(w.register_reads / kBanks, kTogether), 1 / kTogether);
}

}  // namespace

void add_sm_terms(Terms& t, const Setting& s) {
  const LaunchWork& w = s.work;
  const GpuModel& m = s.model;
  const double schedulers = std::max(1u, m.schedulers_per_sm);
  const auto cycles_of = [&](std::uint32_t lanes) { return kWarpSize * schedulers / std::max(1u, lanes); };
  const double n = s.placed.warps_per_scheduler;
  const auto term = [&](double a_warp) { return s.cycles(a_warp * n); };
  const double integer = cycles_of(m.cores_int_per_sm), fp32 = cycles_of(m.cores_fp32_per_sm);
  // Since Kepler a scheduler issues one instruction per cycle; before, it needed 32 / lanes cycles.
  const double issue = m.cc_major >= 3 ? 1 : fp32;
  t[Limit::issue] = term(issue_cycles(w, s) * issue);
  t[Limit::integer] = term(std::max(w.alu, w.integer_fma) * integer);
  t[Limit::fp32] = term(w.fma * fp32);
  t[Limit::fp64] = term(w.fp64 * cycles_of(m.cores_fp64_per_sm));
  t[Limit::special_functions] = term(w.special * cycles_of(m.sfu_per_sm));
  // The constants are cycles of an SM, whose schedulers have a tensor core each.
  t[Limit::tensor] =
      term(schedulers * (m.timing.tensor_fp64_cycles * w.tensor_double + m.timing.tensor_cycles * w.tensor_half));
}

}  // namespace warpgrind::timing
