// A cache of 128-byte lines with a bit for each 32-byte sector: what is fetched is a sector, what is found a line.
#pragma once

#include <cstdint>
#include <vector>

namespace warpgrind::counters {

class SectoredCache {
 public:
  // bytes: of data; 0: nothing is ever found. Sets of kWays lines, the least recently used of which makes room.
  explicit SectoredCache(std::uint64_t bytes);
  // Of the sectors `mask` of a line those that are there. allocate: all of them are, afterwards.
  std::uint8_t look_up(std::uint64_t line, std::uint8_t mask, bool allocate);
  // From now on nothing of what was there.
  void clear() { ++generation_; }

  static constexpr unsigned kWays =
      16;  // assumed: 4 to 64 differ by less than a point of hit rate in the lab's kernels

 private:
  struct Line {
    std::uint64_t tag = ~std::uint64_t{0};  // line and generation
    std::uint32_t used = 0;
    std::uint8_t sectors = 0;
  };
  std::uint64_t sets_ = 0, generation_ = 0;
  std::uint32_t ways_ = 0, now_ = 0;
  std::vector<Line> lines_;
};

}  // namespace warpgrind::counters
