#include "timing/queues.h"

#include <algorithm>

namespace warpgrind::timing {

double time_in_queues(double path, std::span<const Station> stations, const std::function<double(double)>& more) {
  double own = 0, longest = 0;
  for (const Station& s : stations) {
    own += s.of_one();
    longest = std::max(longest, s.service);
  }
  const double elsewhere = std::max(0.0, path - own), least = std::max({path, own, longest});
  if (least <= 0) return 0;
  // A customer's time, if all of them return to each station every `t`. It falls where t grows.
  const auto round = [&](double t) {
    double sum = elsewhere + (more ? more(t) : 0);
    for (const Station& s : stations) {
      const double seen = (s.customers - 1) * s.of_one() / t;  // of the queue, for each ns of a customer's stay
      sum += seen < 1 ? std::min(s.of_one() / (1 - seen), s.service) : s.service;
    }
    return sum;
  };
  // The answer is where round(t) = t: false position, by the Illinois rule.
  constexpr int kMostSteps = 60;
  constexpr double kClose = 1e-5;
  double low = least, above = round(low) - low;
  if (above <= kClose * low) return low;
  double high = low + above, below = round(high) - high;
  int kept = 0;  // side that stayed in the last step: 1 low, 2 high
  for (int step = 0; step < kMostSteps && high - low > kClose * low; ++step) {
    const double t = below < 0 ? low + (high - low) * above / (above - below) : high;
    const double rest = round(t) - t;
    if (rest > 0) {
      low = t, above = rest;
      if (kept == 2) below /= 2;
      kept = 2;
    } else {
      high = t, below = rest;
      if (kept == 1) above /= 2;
      kept = 1;
      if (rest > -kClose * t) return t;
    }
  }
  return high;
}

}  // namespace warpgrind::timing
