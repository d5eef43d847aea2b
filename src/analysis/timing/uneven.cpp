#include "timing/uneven.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "base/as_double.h"

namespace warpgrind::timing {

namespace {

constexpr std::array<double LaunchWork::*, 4> kMembers = {&LaunchWork::uneven_1, &LaunchWork::uneven_4,
                                                          &LaunchWork::uneven_16, &LaunchWork::uneven_64};
constexpr std::array<double, 4> kAtOnce = {1, 4, 16, 64};
constexpr std::size_t kMostSimulated = 1 << 15;
constexpr double kEven = 1.02;

struct BlockLoad {
  double time = 0;   // alone, in times of a warp with the mean work
  double warps = 0;  // that work at the same time, on average
};

// An SM whose blocks share its units: all advance at the same rate.
class Sm {
 public:
  explicit Sm(double at_once) : at_once_(at_once) {}
  void begin(const BlockLoad& b, double now) {
    advance(now);
    ends_.emplace(progress_ + b.time, b.warps);
    warps_ += b.warps;
  }
  // The time at which the next of its blocks ends.
  double next_end() const { return now_ + (ends_.top().first - progress_) / rate(); }
  void end_one() {
    advance(next_end());
    warps_ = std::max(0.0, warps_ - ends_.top().second);
    ends_.pop();
  }
  std::size_t blocks() const { return ends_.size(); }

 private:
  using End = std::pair<double, double>;  // progress at the end; warps
  double rate() const { return warps_ > at_once_ ? at_once_ / warps_ : 1; }
  void advance(double now) {
    progress_ += (now - now_) * rate();
    now_ = now;
  }
  double at_once_, now_ = 0, progress_ = 0, warps_ = 0;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

// Time of the launch, in times of a warp with the mean work.
double makespan(const std::vector<BlockLoad>& blocks, std::size_t sm_count, double resident, double at_once) {
  std::vector<Sm> sms(sm_count, Sm(at_once));
  using Next = std::tuple<double, std::size_t, std::size_t>;  // end of a block, turn, SM
  std::priority_queue<Next, std::vector<Next>, std::greater<>> queue;
  std::size_t begun = 0, turn = 0;  // blocks that end together go to their SMs in turn
  for (; begun < blocks.size() && as_double(begun) < resident * as_double(sm_count); ++begun)
    sms[begun % sm_count].begin(blocks[begun], 0);
  for (std::size_t s = 0; s < sm_count; ++s)
    if (sms[s].blocks() > 0) queue.emplace(sms[s].next_end(), turn++, s);
  double now = 0;
  while (!queue.empty()) {
    const std::size_t s = std::get<2>(queue.top());
    now = std::get<0>(queue.top());
    queue.pop();
    sms[s].end_one();
    if (begun < blocks.size()) sms[s].begin(blocks[begun++], now);
    if (sms[s].blocks() > 0) queue.emplace(sms[s].next_end(), turn++, s);
  }
  return now;
}

// Time of blocks that are all alike: each SM runs its blocks of a round side by side.
double even_makespan(double blocks, double sm_count, double resident, double warps, double at_once) {
  const double round = resident * sm_count, rounds = std::floor(blocks / round);
  const auto side_by_side = [&](double of_sm) { return std::max(1.0, of_sm * warps / at_once); };
  const double rest = blocks - rounds * round;
  return rounds * side_by_side(resident) + (rest > 0 ? side_by_side(std::ceil(rest / sm_count)) : 0);
}

// Blocks in order. Where they are too many, neighbours with little work are one that takes the sum of their times: a
// place runs them one after the other.
std::vector<BlockLoad> loads_of(const std::vector<float>& all, const std::vector<double>& slowest, double mean) {
  const double sum = std::accumulate(slowest.begin(), slowest.end(), 0.0);
  const double least = all.size() > kMostSimulated ? sum / as_double(kMostSimulated) : 0;
  std::vector<BlockLoad> loads;
  double time = 0, work = 0;
  for (std::size_t b = 0; b < all.size(); ++b) {
    time += slowest[b], work += all[b];
    const bool ends = b + 1 == all.size() || time >= least || time + slowest[b + 1] > 2 * least;
    if (!ends) continue;
    loads.push_back({time / mean, time > 0 ? work / time : 0});
    time = work = 0;
  }
  return loads;
}

// Work of the slowest warp of each block. Where warps take turns, one that is alone in a loop counts only if few blocks
// have such a warp: what many blocks do is in LaunchWork::slowest_290 and 700, a mean over all of them.
std::vector<double> slowest_of(const events::BlockWork& of, double warps) {
  constexpr double kMore = 1.5, kFew = 0.16;
  std::vector<double> slowest(of.slowest.begin(), of.slowest.end());
  if (of.of_warps) return slowest;
  const auto parts = [&](std::size_t b) { return of.all[b] > 0 ? slowest[b] * warps / of.all[b] : 1; };
  std::vector<double> ordered(slowest.size());
  for (std::size_t b = 0; b < slowest.size(); ++b) ordered[b] = parts(b);
  const auto from = [&](double share) {
    const auto at = ordered.begin() + static_cast<std::ptrdiff_t>(share * as_double(ordered.size() - 1));
    std::nth_element(ordered.begin(), at, ordered.end());
    return *at;
  };
  const double most = kMore * from(0.5);
  const bool few = from(1 - kFew) <= most;
  for (std::size_t b = 0; b < slowest.size(); ++b)
    if (!few || parts(b) <= most) slowest[b] = of.all[b] / warps;
  return slowest;
}

double empty_blocks(const std::vector<float>& all, std::size_t stretch) {
  constexpr double kEmpty = 0.25;
  std::vector<double> means;
  for (std::size_t first = 0; first < all.size(); first += stretch) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
    const std::size_t blocks = std::min(stretch, all.size() - first);
    means.push_back(std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(blocks), 0.0) / as_double(blocks));
  }
  const double most = *std::max_element(means.begin(), means.end());
  std::size_t empty = 0;
  for (std::size_t k = 0; k < means.size(); ++k)
    if (means[k] <= kEmpty * most) empty += std::min(stretch, all.size() - k * stretch);
  return as_double(empty);
}

}  // namespace

void add_unevenness(LaunchWork& work, const events::BlockWork& blocks, unsigned sm_count) {
  const double sum = std::accumulate(blocks.all.begin(), blocks.all.end(), 0.0);
  if (sum <= 0 || sm_count == 0) return;
  const double warps = as_double(blocks.all.size()) * work.warps_per_block, mean = sum / warps;
  const std::vector<double> slowest = slowest_of(blocks, work.warps_per_block);
  const double longest = *std::max_element(slowest.begin(), slowest.end()) / mean;
  if (longest < kEven) return;
  work.empty_blocks =
      empty_blocks(blocks.all, std::max(std::size_t{1}, static_cast<std::size_t>(work.resident_blocks * sm_count)));
  const std::vector<BlockLoad> uneven = loads_of(blocks.all, slowest, mean);
  for (std::size_t k = 0; k < kMembers.size(); ++k) {
    const double even =
        even_makespan(as_double(slowest.size()), sm_count, work.resident_blocks, work.warps_per_block, kAtOnce[k]);
    const double time = makespan(uneven, sm_count, work.resident_blocks, kAtOnce[k]);
    work.*kMembers[k] = std::max(1.0, time / even);
  }
}

double unevenness(const LaunchWork& work, double at_once) {
  const double at = std::log(std::max(1.0, at_once)) / std::log(4.0);
  const auto k = std::min(kMembers.size() - 2, static_cast<std::size_t>(at));
  const double part = std::min(1.0, at - as_double(k));
  const double below = work.*kMembers[k], above = work.*kMembers[k + 1];
  return std::max(1.0, below + (above - below) * part);
}

}  // namespace warpgrind::timing
