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

std::uint8_t SectoredCache::search(std::uint64_t line, std::uint8_t mask, bool allocate) {
  const std::uint64_t tag = tag_of(line), hash = (line ^ line >> 11) * 0x9e3779b97f4a7c15u;
  Line* const set = &lines_[((hash >> 32) * sets_ >> 32) * ways_];
  Line* oldest = set;
  const auto remember = [&](const Line* l) { recent_[line % kRecent] = static_cast<std::uint32_t>(l - lines_.data()); };
  for (Line* l = set; l != set + ways_; ++l) {
    if (l->tag == tag) {
      remember(l);
      return use(*l, mask, allocate);
    }
    if (static_cast<std::int32_t>(l->used - oldest->used) < 0) oldest = l;
  }
  ++now_;
  if (!allocate) return 0;
  *oldest = {tag, now_, mask};
  remember(oldest);
  return 0;
}

}  // namespace warpgrind::counters
