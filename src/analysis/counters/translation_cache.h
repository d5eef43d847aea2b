// Cache of address translations of one SM. An entry covers an aligned region; the least recently used one is replaced.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <vector>

namespace warpgrind::counters {

class TranslationCache {
 public:
  // entries: 0: every lookup is a hit.
  TranslationCache(std::size_t entries, std::uint64_t entry_bytes) : most_(entries), bytes_(entry_bytes) {}

  // `first`: the region was never looked up before. Of a launch of which few blocks are known, that says nothing: the
  // blocks between them may have looked it up.
  enum class Found : std::uint8_t { there, replaced, first };
  Found look_up(std::uint64_t address);
  std::uint64_t region(std::uint64_t address) const { return bytes_ != 0 ? address / bytes_ : 0; }
  void clear();
  // Makes it an empty cache of that size.
  void reset(std::size_t entries, std::uint64_t entry_bytes) {
    most_ = entries;
    bytes_ = entry_bytes;
    clear();
  }

 private:
  std::size_t most_;
  std::uint64_t bytes_;
  std::vector<std::uint64_t> recent_;  // regions, the most recent one first
  std::unordered_set<std::uint64_t> known_;
};

}  // namespace warpgrind::counters
