#include "timing/queues.h"

#include <algorithm>
#include <cmath>

namespace warpgrind::timing {

double time_in_queues(double path, std::span<const Station> stations, const std::function<double(double)>& more) {
  double own = 0, longest = 0;
  for (const Station& s : stations) {
    own += s.of_one();
    longest = std::max(longest, s.service);
  }
  const double elsewhere = std::max(0.0, path - own), least = std::max({path, own, longest});
  // A customer's time at all stations, if each of them sees its customers every `t`.
  const auto round = [&](double t) {
    double sum = elsewhere + (more ? more(t) : 0);
    for (const Station& s : stations) {
      const double seen = (s.customers - 1) * s.of_one() / t;  // of the queue, for each ns of a customer's stay
      sum += seen < 1 ? std::min(s.of_one() / (1 - seen), s.service) : s.service;
    }
    return std::max(sum, least);
  };
  if (least <= 0) return 0;
  constexpr int kMostSteps = 40;
  constexpr double kClose = 1e-4;
  double t = least;
  for (int step = 0; step < kMostSteps; ++step) {
    const double next = round(t);
    if (std::abs(next / t - 1) < kClose) return next;
    t = (t + next) / 2;  // `round` falls where t grows: halfway does not swing
  }
  return t;
}

}  // namespace warpgrind::timing
