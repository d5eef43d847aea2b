// Cache of 128-byte lines with a valid bit for each 32-byte sector. Tags are per line; data is fetched per sector.
#pragma once

#include <cstdint>
#include <vector>

namespace warpgrind::counters {

class SectoredCache {
 public:
  // bytes: size of the data; 0: every lookup misses. Sets of kWays lines; the least recently used line is replaced.
  explicit SectoredCache(std::uint64_t bytes);
  // Returns the sectors in `mask` that are present. allocate: afterwards all of them are.
  std::uint8_t look_up(std::uint64_t line, std::uint8_t mask, bool allocate);
  // As look_up(), if all sectors are present. Else it does nothing and returns false.
  bool touch(std::uint64_t line, std::uint8_t mask);
  // Empties the cache.
  void clear() { ++generation_; }

  static constexpr unsigned kWays =
      16;  // assumed: 4 to 64 differ by less than a point of hit rate in the lab's kernels

 private:
  // A set. Members of all ways lie together, so that the compiler compares several at a time.
  struct Set {
    std::uint64_t tags[kWays];  // line and generation
    std::uint32_t used[kWays];
    std::uint8_t sectors[kWays];
  };
  std::uint64_t sets_count_ = 0, generation_ = 0;
  std::uint32_t ways_ = 0, now_ = 0;
  std::vector<Set> sets_;
};

}  // namespace warpgrind::counters
