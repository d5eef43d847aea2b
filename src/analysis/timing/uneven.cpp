#include "timing/uneven.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>
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
  using Next = std::pair<double, std::size_t>;  // end of a block, SM
  std::priority_queue<Next, std::vector<Next>, std::greater<>> queue;
  std::size_t begun = 0;
  for (; begun < blocks.size() && as_double(begun) < resident * as_double(sm_count); ++begun)
    sms[begun % sm_count].begin(blocks[begun], 0);
  for (std::size_t s = 0; s < sm_count; ++s)
    if (sms[s].blocks() > 0) queue.emplace(sms[s].next_end(), s);
  double now = 0;
  while (!queue.empty()) {
    const std::size_t s = queue.top().second;
    now = queue.top().first;
    queue.pop();
    sms[s].end_one();
    if (begun < blocks.size()) sms[s].begin(blocks[begun++], now);
    if (sms[s].blocks() > 0) queue.emplace(sms[s].next_end(), s);
  }
  return now;
}

// In runs of equal length, if there are too many. A run stands for one block.
std::vector<BlockLoad> loads_of(const events::BlockWork& of, double mean) {
  const std::size_t n = of.all.size(), run = (n + kMostSimulated - 1) / kMostSimulated;
  std::vector<BlockLoad> loads;
  for (std::size_t first = 0; first < n; first += run) {
    double all = 0, slowest = 0;
    const std::size_t end = std::min(n, first + run);
    for (std::size_t b = first; b < end; ++b) all += of.all[b], slowest += of.slowest[b];
    loads.push_back({slowest / mean / as_double(end - first), slowest > 0 ? all / slowest : 0});
  }
  return loads;
}

}  // namespace

void add_unevenness(LaunchWork& work, const events::BlockWork& blocks, unsigned sm_count) {
  const double sum = std::accumulate(blocks.all.begin(), blocks.all.end(), 0.0);
  if (sum <= 0 || sm_count == 0) return;
  const double warps = as_double(blocks.all.size()) * work.warps_per_block, mean = sum / warps;
  const double longest = *std::max_element(blocks.slowest.begin(), blocks.slowest.end()) / mean;
  if (longest < kEven) return;
  const std::vector<BlockLoad> uneven = loads_of(blocks, mean);
  const double run = as_double(blocks.all.size()) / as_double(uneven.size());  // blocks
  const std::vector<BlockLoad> even(uneven.size(), BlockLoad{1, work.warps_per_block});
  for (std::size_t k = 0; k < kMembers.size(); ++k) {
    const double of_even = makespan(even, sm_count, work.resident_blocks, kAtOnce[k]);
    const double time = std::max(longest / run, makespan(uneven, sm_count, work.resident_blocks, kAtOnce[k]));
    work.*kMembers[k] = std::max(1.0, time / of_even);
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
