#include "counters/local_reuse.h"

#include <algorithm>
#include <cmath>

#include "base/as_double.h"

namespace warpgrind::counters {

namespace {

constexpr double kStepsOfOctave = 4;
constexpr std::uint64_t kWordBytes = 4;
constexpr std::size_t kTakeEach = 7;  // of the uses at least; to look at all places takes long

}  // namespace

void LocalDistances::add(double words, double weight) {
  const double step = kStepsOfOctave * std::log2(std::max(1.0, words));
  uses_[std::min<std::size_t>(kSteps - 1, static_cast<std::size_t>(std::lround(step)))] += weight;
}

double LocalDistances::words_of(unsigned step) {
  return std::exp2(step / kStepsOfOctave);
}

// Measured on an H200 with arrays of 16 to 2048 words a thread (lab/results/h200/local.csv): with 35 MB in between, 2 %
// of the loads and 42 % of the stores; with 69 MB, 46 and 88 %; with 138 MB, 85 and 99 %.
double lost_loads(double bytes, double l2) {
  constexpr double kRoom = 0.7, kSteep = 2.5;
  return bytes > kRoom * l2 ? 1 - std::pow(kRoom * l2 / bytes, kSteep) : 0;
}

double lost_stores(double bytes, double l2) {
  constexpr double kRoom = 0.28, kReach = 0.45;
  return bytes > kRoom * l2 ? 1 - std::exp((kRoom - bytes / l2) / kReach) : 0;
}

void LocalWords::begin(std::uint64_t bytes_of_thread) {
  const std::uint64_t words = std::max<std::uint64_t>(1, (bytes_of_thread + kWordBytes - 1) / kWordBytes);
  words_of_place_ = (words + kMostPlaces - 1) / kMostPlaces;
  places_.assign((words + words_of_place_ - 1) / words_of_place_, {});
  take_each_ = static_cast<std::uint32_t>(std::max(kTakeEach, places_.size() / 128 | 1));
  now_ = 0;
}

void LocalWords::use(std::uint64_t offset, bool store, LocalReuse& reuse) {
  const std::uint64_t at = offset / kWordBytes / words_of_place_;
  if (at >= places_.size()) return;
  Place& place = places_[at];
  const std::uint32_t last = store ? place.stored : place.used;
  ++now_;
  if (last != 0 && now_ % take_each_ == 0) (store ? reuse.stores : reuse.loads).add(used_since(last), take_each_);
  place.used = now_;
  if (store) place.stored = now_;
}

void LocalWords::end(LocalReuse& reuse) {
  const double all = used_since(0);
  for (const Place& p : places_)
    if (p.stored != 0) reuse.stores.add(all, 1);
}

double LocalWords::used_since(std::uint32_t time) const {
  const auto after = std::count_if(places_.begin(), places_.end(), [&](const Place& p) { return p.used > time; });
  return as_double(static_cast<std::uint64_t>(after) * words_of_place_);
}

}  // namespace warpgrind::counters
