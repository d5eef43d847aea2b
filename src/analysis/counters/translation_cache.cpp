#include "counters/translation_cache.h"

#include <algorithm>

namespace warpgrind::counters {

TranslationCache::Found TranslationCache::look_up(std::uint64_t address) {
  if (most_ == 0) return Found::there;
  const std::uint64_t of = region(address);
  if (!recent_.empty() && recent_.front() == of) return Found::there;
  const auto at = std::find(recent_.begin(), recent_.end(), of);
  const bool there = at != recent_.end();
  if (there)
    recent_.erase(at);
  else if (recent_.size() == most_)
    recent_.pop_back();
  recent_.insert(recent_.begin(), of);
  if (there) return Found::there;
  return known_.insert(of).second ? Found::first : Found::replaced;
}

void TranslationCache::clear() {
  recent_.clear();
  if (!known_.empty()) known_.clear();
}

}  // namespace warpgrind::counters
