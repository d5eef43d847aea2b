#include "counters/sectored_cache.h"

#include <algorithm>
#include <bit>
#include <iterator>

namespace warpgrind::counters {

SectoredCache::SectoredCache(std::uint64_t bytes) {
  const std::uint64_t lines = bytes / 128;
  if (lines == 0) return;
  ways_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(kWays, lines));
  sets_count_ = lines / ways_;
  Set empty{};
  std::fill(std::begin(empty.tags), std::end(empty.tags), ~std::uint64_t{0});
  sets_.assign(sets_count_, empty);
}

bool SectoredCache::touch(std::uint64_t line, std::uint8_t mask) {
  if (sets_count_ == 0) return false;
  const std::uint64_t tag = line | generation_ << 42;
  const std::uint64_t hash = (line ^ line >> 11) * 0x9e3779b97f4a7c15u;
  Set& set = sets_[(hash >> 32) * sets_count_ >> 32];
  std::uint32_t equal = 0;
  for (unsigned w = 0; w < kWays; ++w) equal |= static_cast<std::uint32_t>(set.tags[w] == tag) << w;
  if (equal == 0) return false;
  const auto way = static_cast<unsigned>(std::countr_zero(equal));
  if ((mask & ~set.sectors[way]) != 0) return false;
  set.used[way] = ++now_;
  return true;
}

std::uint8_t SectoredCache::look_up(std::uint64_t line, std::uint8_t mask, bool allocate) {
  if (sets_count_ == 0) return 0;
  // Addresses have 49 bits and line numbers 42; the generation takes the remaining bits of the tag.
  const std::uint64_t tag = line | generation_ << 42;
  const std::uint64_t hash = (line ^ line >> 11) * 0x9e3779b97f4a7c15u;
  Set& set = sets_[(hash >> 32) * sets_count_ >> 32];
  ++now_;
  std::uint32_t equal = 0;
  for (unsigned w = 0; w < kWays; ++w) equal |= static_cast<std::uint32_t>(set.tags[w] == tag) << w;
  if (equal != 0) {
    const auto way = static_cast<unsigned>(std::countr_zero(equal));
    const std::uint8_t found = set.sectors[way] & mask;
    set.used[way] = now_;
    if (allocate) set.sectors[way] |= mask;
    return found;
  }
  if (!allocate) return 0;
  // Ages are below 2^31. Ways beyond ways_, in a cache of few lines, are never used.
  std::uint32_t oldest = 0;
  for (unsigned w = 0; w < kWays; ++w) oldest = std::max(oldest, w < ways_ ? now_ - set.used[w] : 0);
  std::uint32_t as_old = 0;
  for (unsigned w = 0; w < kWays; ++w) as_old |= static_cast<std::uint32_t>(now_ - set.used[w] == oldest) << w;
  const auto way = static_cast<unsigned>(std::countr_zero(as_old));
  set.tags[way] = tag;
  set.used[way] = now_;
  set.sectors[way] = mask;
  return 0;
}

}  // namespace warpgrind::counters
