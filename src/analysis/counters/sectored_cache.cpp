#include "counters/sectored_cache.h"

#include <algorithm>

namespace warpgrind::counters {

SectoredCache::SectoredCache(std::uint64_t bytes) {
  const std::uint64_t lines = bytes / 128;
  if (lines == 0) return;
  ways_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(kWays, lines));
  sets_ = lines / ways_;
  lines_.resize(sets_ * ways_);
}

std::uint8_t SectoredCache::look_up(std::uint64_t line, std::uint8_t mask, bool allocate) {
  if (sets_ == 0) return 0;
  // Addresses have 49 bits and line numbers 42; the generation takes the remaining bits of the tag.
  const std::uint64_t tag = line | generation_ << 42;
  const std::uint64_t hash = (line ^ line >> 11) * 0x9e3779b97f4a7c15u;
  Line* const set = &lines_[((hash >> 32) * sets_ >> 32) * ways_];
  ++now_;
  Line* oldest = set;
  for (Line* l = set; l != set + ways_; ++l) {
    if (l->tag == tag) {
      const std::uint8_t found = l->sectors & mask;
      l->used = now_;
      if (allocate) l->sectors |= mask;
      return found;
    }
    if (static_cast<std::int32_t>(l->used - oldest->used) < 0) oldest = l;
  }
  if (allocate) *oldest = {tag, now_, mask};
  return 0;
}

}  // namespace warpgrind::counters
