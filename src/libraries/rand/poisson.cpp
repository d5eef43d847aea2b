#include "libraries/rand/poisson.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace warpgrind::libraries::rand {

namespace {

struct Probabilities {
  unsigned first = 0;
  std::vector<double> of;
};

// Of all values that a number of 53 bits can tell apart: from the mode, whose probability Stirling's formula gives,
// both ways. Sums from the small to the great lose nothing.
Probabilities probabilities(double mean) {
  constexpr double kLeast = 0x1p-64;
  const double mode = std::floor(mean);
  const double at_mode = std::exp(mode * std::log(mean) - mean - std::lgamma(mode + 1));
  std::vector<double> down, up;
  double term = at_mode;
  for (double k = mode; k > 0 && term > kLeast; --k) down.push_back(term *= k / mean);
  term = at_mode;
  for (double k = mode + 1; term > kLeast; ++k) up.push_back(term *= mean / k);
  Probabilities all;
  all.first = static_cast<unsigned>(mode) - static_cast<unsigned>(down.size());
  all.of.assign(down.rbegin(), down.rend());
  all.of.push_back(at_mode);
  all.of.insert(all.of.end(), up.begin(), up.end());
  const double sum = std::accumulate(all.of.begin(), all.of.end(), 0.0);
  for (double& p : all.of) p /= sum;
  return all;
}

}  // namespace

Histogram poisson_histogram(double mean) {
  const Probabilities p = probabilities(mean);
  const std::size_t n = p.of.size();
  const double width = static_cast<double>(n);
  Histogram h;
  h.shift = p.first;
  std::vector<double> part(n);  // of its column that a value still has to fill
  std::vector<unsigned> poor, rich;
  for (unsigned i = 0; i < n; ++i) {
    part[i] = p.of[i] * width;
    (part[i] < 1 ? poor : rich).push_back(i);
  }
  h.below.resize(n);
  h.other.resize(n);
  for (unsigned i = 0; i < n; ++i) {
    h.below[i] = (i + 1) / width;
    h.other[i] = i;
  }
  while (!poor.empty() && !rich.empty()) {
    const unsigned small = poor.back(), great = rich.back();
    poor.pop_back();
    h.below[small] = (small + part[small]) / width;
    h.other[small] = great;
    part[great] -= 1 - part[small];
    if (part[great] >= 1) continue;
    rich.pop_back();
    poor.push_back(great);
  }
  return h;
}

PoissonDistribution::PoissonDistribution(double mean, PoissonRule rule) : mean_(mean), by_normal_(mean >= rule.normal) {
  if (by_normal_) return;
  if (mean < rule.inverse) {
    histogram_ = poisson_histogram(mean);
    return;
  }
  Probabilities p = probabilities(mean);
  first_ = p.first;
  std::partial_sum(p.of.begin(), p.of.end(), p.of.begin());
  probability_ = std::move(p.of);
}

std::uint32_t PoissonDistribution::of(double u) const {
  if (!probability_.empty()) {
    const auto reached = std::lower_bound(probability_.begin(), probability_.end() - 1, u);
    return first_ + static_cast<std::uint32_t>(reached - probability_.begin());
  }
  const std::size_t columns = histogram_.below.size();
  const std::size_t column = std::min(static_cast<std::size_t>(u * static_cast<double>(columns)), columns - 1);
  return histogram_.shift +
         (u < histogram_.below[column] ? static_cast<std::uint32_t>(column) : histogram_.other[column]);
}

std::uint32_t PoissonDistribution::of_normal(double normal) const {
  return static_cast<std::uint32_t>(std::max(std::sqrt(mean_) * normal + mean_ + 0.5, 0.0));
}

}  // namespace warpgrind::libraries::rand
