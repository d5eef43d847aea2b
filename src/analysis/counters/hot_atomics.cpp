#include "counters/hot_atomics.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "events/access_log.h"

namespace warpgrind::counters {

namespace {

constexpr std::uint64_t kMostPhases = 8;
constexpr std::size_t kMostKibs = 1u << 14;  // of a phase; what is hot comes early

constexpr double kOtherHalf = 0.55;  // of a turn

// Two units share a KiB, 256 bytes each in turn. Measured on an H200 (lab/results/h200/atomics.csv): sums in 128 bytes
// take as long for each turn as in one sector, in 512 and 1024 bytes half, in 2048 a quarter, in 4096 an eighth.
constexpr unsigned unit_of(unsigned sector) {
  return sector / 8 % 2;
}

}  // namespace

HotAtomics::HotAtomics(std::uint64_t blocks, std::uint64_t at_once, bool all_seen)
    : blocks_(std::max<std::uint64_t>(1, blocks)), all_seen_(all_seen) {
  at_once = std::max<std::uint64_t>(1, at_once);
  phases_.resize(std::min((blocks_ + at_once - 1) / at_once, kMostPhases));
}

void HotAtomics::note(std::uint64_t block, const std::uint64_t* addresses, unsigned lanes, bool together, Words words) {
  if (lanes == 0) return;
  constexpr std::uint64_t kSector = 32, kDoubles = 16;  // bytes
  std::array<std::uint64_t, kWarpSize> at{};
  if (together) lanes = 1;
  std::copy_n(addresses, lanes, at.begin());
  std::sort(at.begin(), at.begin() + lanes);
  Phase& phase = phases_[std::min(block, blocks_ - 1) * phases_.size() / blocks_];
  const std::uint64_t bit = std::uint64_t{1} << (events::mixed(block + 1) >> 58);
  phase.blocks |= bit;
  const std::uint64_t bytes = words == Words::doubles ? kDoubles : kSector;
  for (unsigned i = 0; i < lanes;) {
    const std::uint64_t sector = at[i] / kSector;
    unsigned most = 0, turns = 0;
    while (i < lanes && at[i] / kSector == sector) {
      const std::uint64_t part = at[i] / bytes;
      unsigned most_here = 0, same = 0;
      for (const unsigned first = i; i < lanes && at[i] / bytes == part; ++i) {
        same = i > first && at[i] == at[i - 1] ? same + 1 : 1;
        most_here = std::max(most_here, same);
      }
      most = std::max(most, most_here);
      turns += most_here;
    }
    turns_ += most;
    const std::uint64_t kib = sector / kSectors;
    if (phase.kibs.size() >= kMostKibs && !phase.kibs.contains(kib)) continue;
    Kib& of = phase.kibs[kib];
    of.blocks |= bit;
    of.turns[sector % kSectors] += most;
    of.halves[sector % kSectors] += turns - most;
    if (words != Words::integers) of.floats[sector % kSectors] += most;
  }
}

double HotAtomics::share(bool floats) const {
  double sum = 0;
  for (const Phase& phase : phases_) {
    double longest = 0;
    for (const auto& [at, kib] : phase.kibs) {
      double most = 0;
      if (floats) {
        most = *std::max_element(kib.floats.begin(), kib.floats.end());
      } else {
        double units[2] = {};
        for (unsigned s = 0; s < kSectors; ++s) units[unit_of(s)] += kib.turns[s] + kOtherHalf * kib.halves[s];
        most = std::max(units[0], units[1]);
      }
      // Of some blocks, a place has more than others by chance, and what few blocks use the others do not.
      const double of_blocks = 1.0 * std::popcount(kib.blocks) / std::popcount(phase.blocks);
      longest = std::max(longest, all_seen_ ? most : (most - std::sqrt(most)) * std::min(1.0, 2 * of_blocks));
    }
    sum += longest;
  }
  return turns_ > 0 ? sum / turns_ : 0;
}

}  // namespace warpgrind::counters
