#include "timing/estimate.h"

#include <algorithm>

#include "base/assert.h"
#include "timing/interval.h"

namespace warpgrind::timing {

const char* name(Limit limit) {
  static constexpr const char* kNames[] = {
#define WG_TERM(id, text) text,
#include "timing/terms/terms.inc"
#undef WG_TERM
  };
  WG_ASSERT(static_cast<std::size_t>(limit) < std::size(kNames));
  return kNames[static_cast<std::size_t>(limit)];
}

void KernelEstimate::add(double more_ns) {
  for (double* t : {&ns, &event_ns, &queued_ns, &low_ns, &high_ns}) *t += more_ns;
}

namespace {

Terms terms_of(const Setting& s) {
  Terms terms;
  add_sm_terms(terms, s);
  add_mio_terms(terms, s);
  add_copies_term(terms, s);
  add_l2_terms(terms, s);
  add_dram_term(terms, s);
  add_link_terms(terms, s);
  add_atomics_term(terms, s);
  add_latency_term(terms, s);
  add_launch_terms(terms, s);
  return terms;
}

// Clock by the parts of the kernel's time in which the GPU's tensor cores and L2 are busy. Products of doubles do not
// count: their clock was not measured.
double clock_mhz(const Terms& t, const Setting& s) {
  const double halves = s.work.tensor_half * s.model.timing.tensor_cycles;
  const double doubles = s.work.tensor_double * s.model.timing.tensor_fp64_cycles;
  const double body = combine(t, s), sms = s.placed.busy_sms / std::max(1u, s.model.sm_count);
  const double tensor = t[Limit::tensor] * halves / (halves + doubles);
  return busy_clock_mhz(s.model, tensor / body * sms, t[Limit::l2_bandwidth] / body);
}

}  // namespace

KernelEstimate estimate_kernel(const GpuModel& model, const LaunchWork& work, const L2State& l2, const Fitted& fitted) {
  Setting s{model, work, fitted, place(model, work), l2, 1e3 / model.sm_clock_mhz};
  const TimingConstants& c = model.timing;
  Terms terms = terms_of(s);
  if (terms[Limit::tensor] > 0) {
    s.cycle_ns = 1e3 / clock_mhz(terms, s);
    terms = terms_of(s);
  }

  KernelEstimate e;
  e.bounds.reserve(kLimits);
  const double body = combine(terms, s);
  const double unused = fitted.first_access_ns - first_access_ns(s);
  e.event_ns = c.launch_event_ns + fitted.event_start_ns - unused + body;
  e.ns = c.empty_kernel_ns + fitted.start_ns + first_access_ns(s) + body;
  e.queued_ns = c.next_launch_ns + body;
  const DramTraffic traffic = dram_traffic(s);
  e.dram_bytes = traffic.read + traffic.written;
  e.allocated_bytes = traffic.allocated;
  for (std::size_t i = 0; i < kLimits; ++i) {
    const auto limit = static_cast<Limit>(i);
    if (terms[limit] > 0) e.bounds.push_back({limit, terms[limit]});
  }
  std::stable_sort(e.bounds.begin(), e.bounds.end(), [](const Bound& a, const Bound& b) { return a.ns > b.ns; });
  if (!e.bounds.empty()) e.limit = e.bounds.front().limit;
  const Interval interval = interval_of(model, e.limit, e.ns);
  e.low_ns = e.ns * interval.low;
  e.high_ns = e.ns * interval.high;
  return e;
}

}  // namespace warpgrind::timing
