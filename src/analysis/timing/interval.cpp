#include "timing/interval.h"

#include <algorithm>

namespace warpgrind::timing {
namespace {

struct Row {
  Limit limit;
  unsigned rows;
  double low, high, shortest_us, longest_us;
};
constexpr Row kRows[] = {
#define WG_INTERVAL(limit, rows, low, high, shortest, longest) {Limit::limit, rows, low, high, shortest, longest},
#include "timing/intervals.inc"
#undef WG_INTERVAL
};

// More than half of the constants were measured on this GPU; the others come from papers or other GPUs.
bool measured(const GpuModel& model) {
  const auto n = std::count_if(model.timing_sources.begin(), model.timing_sources.end(),
                               [](const TimingSource& s) { return s.origin == TimingOrigin::measured; });
  return 2 * n > static_cast<std::ptrdiff_t>(model.timing_sources.size());
}

}  // namespace

Interval interval_of(const GpuModel& model, Limit limit, double ns) {
  Interval out;
  for (const Row& row : kRows) {
    if (row.limit != limit) continue;
    // No data for durations more than 3 times longer or shorter than all rows with this limit.
    const bool alike = ns > row.shortest_us * 1e3 / 3 && ns < row.longest_us * 1e3 * 3;
    const double wider = (alike ? 1.0 : 1.3) * (measured(model) ? 1.0 : 2.0);
    out.low = row.low / wider;
    out.high = row.high * wider;
  }
  return out;
}

}  // namespace warpgrind::timing
