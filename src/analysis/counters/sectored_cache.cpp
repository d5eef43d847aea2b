#include "counters/sectored_cache.h"

#include <algorithm>
#include <bit>
#include <iterator>

namespace warpgrind::counters {

namespace {

std::uint16_t short_tag(std::uint64_t tag) {
  return static_cast<std::uint16_t>(tag ^ tag >> 16 ^ tag >> 42);
}

}  // namespace

void SectoredCache::reset(std::uint64_t bytes) {
  const std::uint64_t lines = bytes / 128;
  const auto ways = static_cast<std::uint32_t>(std::min<std::uint64_t>(kWays, lines));
  const std::uint64_t sets = lines == 0 ? 0 : lines / ways;
  if (ways == ways_ && sets == sets_count_) return clear();
  ways_ = ways;
  sets_count_ = sets;
  sets_.resize(sets);
  forget();
}

void SectoredCache::forget() {
  generation_ = 0;
  constexpr std::uint64_t kNone = ~std::uint64_t{0};
  Set empty{};
  std::fill(std::begin(empty.tags), std::end(empty.tags), kNone);
  std::fill(std::begin(empty.short_tags), std::end(empty.short_tags), short_tag(kNone));
  for (unsigned k = 0; k < ways_; ++k) empty.order |= std::uint64_t{ways_ - 1 - k} << 4 * k;
  std::fill(sets_.begin(), sets_.end(), empty);
}

void SectoredCache::clear() {
  if (++generation_ == kGenerations - 1) forget();
}

SectoredCache::Set& SectoredCache::set_of(std::uint64_t line) {
  const std::uint64_t hash = (line ^ line >> 11) * 0x9e3779b97f4a7c15u;
  return sets_[(hash >> 32) * sets_count_ >> 32];
}

unsigned SectoredCache::way_of(const Set& set, std::uint64_t tag) const {
  const auto last = static_cast<unsigned>(set.order & 15);
  if (set.tags[last] == tag) return last;
  const std::uint16_t of = short_tag(tag);
  std::uint32_t equal = 0;
  for (unsigned w = 0; w < kWays; ++w) equal |= static_cast<std::uint32_t>(set.short_tags[w] == of) << w;
  for (; equal != 0; equal &= equal - 1)
    if (const auto way = static_cast<unsigned>(std::countr_zero(equal)); set.tags[way] == tag) return way;
  return kWays;
}

// Puts the way first in the order. Ways beyond ways_, in a cache of few lines, are not in it.
void SectoredCache::use(Set& set, unsigned way) const {
  if ((set.order & 15) == way) return;
  constexpr std::uint64_t kOnes = 0x1111111111111111u;
  const std::uint64_t differ = set.order ^ kOnes * way;  // four zero bits where the way is
  const std::uint64_t zero = (differ - kOnes) & ~differ & kOnes << 3;
  const auto at = static_cast<unsigned>(std::countr_zero(zero)) & ~3u;
  const std::uint64_t before = (std::uint64_t{1} << at) - 1, through = before << 4 | 15;
  set.order = (set.order & ~through) | (set.order & before) << 4 | way;
}

bool SectoredCache::touch(std::uint64_t line, std::uint8_t mask) {
  if (sets_count_ == 0) return false;
  Set& set = set_of(line);
  const unsigned way = way_of(set, line | generation_ << kGenerationAt);
  if (way == kWays || (mask & ~set.sectors[way]) != 0) return false;
  use(set, way);
  return true;
}

std::uint8_t SectoredCache::look_up(std::uint64_t line, std::uint8_t mask, bool allocate) {
  if (sets_count_ == 0) return 0;
  const std::uint64_t tag = line | generation_ << kGenerationAt;
  Set& set = set_of(line);
  unsigned way = way_of(set, tag);
  if (way != kWays) {
    const std::uint8_t found = set.sectors[way] & mask;
    use(set, way);
    if (allocate) set.sectors[way] |= mask;
    return found;
  }
  if (!allocate) return 0;
  way = static_cast<unsigned>(set.order >> 4 * (ways_ - 1)) & 15;
  set.tags[way] = tag;
  set.short_tags[way] = short_tag(tag);
  set.sectors[way] = mask;
  use(set, way);
  return 0;
}

}  // namespace warpgrind::counters
