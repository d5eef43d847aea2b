// Cache of 128-byte lines with a valid bit for each 32-byte sector. Tags are per line; data is fetched per sector.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpgrind::counters {

class SectoredCache {
 public:
  // bytes: size of the data; 0: every lookup misses. Sets of kWays lines; the least recently used line is replaced.
  explicit SectoredCache(std::uint64_t bytes);
  // Returns the sectors in `mask` that are present. allocate: afterwards all of them are.
  std::uint8_t look_up(std::uint64_t line, std::uint8_t mask, bool allocate) {
    if (sets_ == 0) return 0;
    Line& l = lines_[recent_[line % kRecent]];
    if (l.tag != tag_of(line)) return search(line, mask, allocate);
    return use(l, mask, allocate);
  }
  // As look_up(), if that is quick and all sectors are present. Else it does nothing and returns false.
  bool touch(std::uint64_t line, std::uint8_t mask) {
    if (sets_ == 0) return false;
    Line& l = lines_[recent_[line % kRecent]];
    if (l.tag != tag_of(line) || (mask & ~l.sectors) != 0) return false;
    l.used = ++now_;
    return true;
  }
  // Empties the cache.
  void clear() { ++generation_; }

  static constexpr unsigned kWays =
      16;  // assumed: 4 to 64 differ by less than a point of hit rate in the lab's kernels

 private:
  struct Line {
    std::uint64_t tag = ~std::uint64_t{0};  // line and generation
    std::uint32_t used = 0;
    std::uint8_t sectors = 0;
  };
  // Addresses have 49 bits and line numbers 42; the generation takes the remaining bits of the tag.
  std::uint64_t tag_of(std::uint64_t line) const { return line | generation_ << 42; }
  std::uint8_t use(Line& l, std::uint8_t mask, bool allocate) {
    const std::uint8_t found = l.sectors & mask;
    l.used = ++now_;
    if (allocate) l.sectors |= mask;
    return found;
  }
  std::uint8_t search(std::uint64_t line, std::uint8_t mask, bool allocate);

  std::uint64_t sets_ = 0, generation_ = 0;
  std::uint32_t ways_ = 0, now_ = 0;
  std::vector<Line> lines_;
  // Where some lines were found last, to save the search of their set. Warps mostly ask for a few lines again and
  // again.
  static constexpr std::size_t kRecent = 64;
  std::array<std::uint32_t, kRecent> recent_{};
};

}  // namespace warpgrind::counters
