// Poisson distribution: histogram, inverse distribution function, and rounded normal numbers.
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

// Probabilities of all values whose probability is not 0 in double precision. As in NVIDIA's library, their number is
// the number of columns of the histogram.
Probabilities probabilities(double mean) {
  const auto of = [mean, log_mean = std::log(mean)](double k) {
    return std::exp(k * log_mean - mean - std::lgamma(k + 1));
  };
  const double mode = std::floor(mean);
  double first = mode;
  while (first > 0 && of(first - 1) > 0) --first;
  Probabilities all;
  all.first = static_cast<unsigned>(first);
  for (double k = first; k <= mode || all.of.back() > 0; ++k) all.of.push_back(of(k));
  all.of.pop_back();
  return all;
}

// Columns of the histogram while they are filled. height: each value's own share, minus what it gave to other columns,
// in units of a full column.
struct Columns {
  Histogram histogram;
  std::vector<double> height;
  std::vector<bool> done;
  std::vector<unsigned> rich;  // columns with a height of 1 or more

  explicit Columns(const Probabilities& p) : height(p.of), done(p.of.size()) {
    const double count = static_cast<double>(height.size());
    histogram.shift = p.first;
    for (unsigned i = 0; i < height.size(); ++i) {
      height[i] *= count;
      histogram.below.push_back((i + 1) / count);
      histogram.other.push_back(i);
      if (height[i] >= 1) rich.push_back(i);
    }
  }
  void fill(unsigned i) {
    const unsigned from = rich.back();
    histogram.below[i] = (i + height[i]) / static_cast<double>(height.size());
    histogram.other[i] = from;
    done[i] = true;
    height[from] -= 1 - height[i];
    if (height[from] < 1) rich.pop_back();
  }
  // True if any column was filled.
  bool fill_all_once() {
    bool any = false;
    for (unsigned i = 0; i < height.size() && !rich.empty(); ++i) {
      if (done[i] || height[i] >= 1) continue;
      fill(i);
      any = true;
    }
    return any;
  }
};

}  // namespace

// Fills the columns that are less than full from the first to the last, repeatedly, from the last rich column. This
// order, which is NVIDIA's, determines which values share a column, and so the random numbers.
Histogram poisson_histogram(double mean) {
  Columns columns(probabilities(mean));
  while (columns.fill_all_once()) {
  }
  return columns.histogram;
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
  for (double& sum : p.of) sum /= p.of.back();
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
