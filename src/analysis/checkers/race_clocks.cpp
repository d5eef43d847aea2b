// Sorted sets of happens-before facts.
#include "checkers/race_clocks.h"

#include <algorithm>

#include "base/assert.h"

namespace warpgrind::checkers {

namespace {

bool before(const std::pair<std::uint64_t, std::uint32_t>& fact, std::uint64_t key) {
  return fact.first < key;
}

}  // namespace

void Knowledge::learn(std::uint64_t key, std::uint32_t value) {
  const auto at = std::lower_bound(facts_.begin(), facts_.end(), key, before);
  if (at != facts_.end() && at->first == key)
    at->second = std::max(at->second, value);
  else
    facts_.insert(at, {key, value});
}

std::uint32_t Knowledge::find(std::uint64_t key) const {
  const auto at = std::lower_bound(facts_.begin(), facts_.end(), key, before);
  return at != facts_.end() && at->first == key ? at->second : 0;
}

void Knowledge::join(const Knowledge& other) {
  if (other.facts_.empty()) return;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> all;
  all.reserve(facts_.size() + other.facts_.size());
  auto a = facts_.begin();
  auto b = other.facts_.begin();
  while (a != facts_.end() && b != other.facts_.end()) {
    if (a->first < b->first) {
      all.push_back(*a++);
    } else if (b->first < a->first) {
      all.push_back(*b++);
    } else {
      all.emplace_back(a->first, std::max(a->second, b->second));
      ++a;
      ++b;
    }
  }
  all.insert(all.end(), a, facts_.end());
  all.insert(all.end(), b, other.facts_.end());
  WG_DEBUG_ASSERT(std::is_sorted(all.begin(), all.end()));
  facts_ = std::move(all);
}

bool Knowledge::knows(std::uint64_t block, std::uint32_t warp, std::uint32_t lane, std::uint32_t epoch,
                      std::uint32_t tick) const {
  return epoch < find(key(block, Kind::block, 0, 0)) || tick < find(key(block, Kind::warp, warp, 0)) ||
         tick < find(key(block, Kind::lane, warp, lane));
}

void Knowledge::forget_block(std::uint64_t block) {
  std::erase_if(facts_, [&](const auto& fact) {
    return fact.first >> 12 == block && static_cast<Kind>(fact.first >> 10 & 3) != Kind::copy;
  });
}

Shared joined(const Shared& a, const Shared& b) {
  if (!a || a == b) return b;
  if (!b) return a;
  auto both = std::make_shared<Knowledge>(*a);
  both->join(*b);
  return both;
}

}  // namespace warpgrind::checkers
