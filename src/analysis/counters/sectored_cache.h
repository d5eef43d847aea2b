// Cache of 128-byte lines with a valid bit for each 32-byte sector. Tags are per line; data is fetched per sector.
#pragma once

#include <cstdint>
#include <vector>

namespace warpgrind::counters {

class SectoredCache {
 public:
  // bytes: size of the data; 0: every lookup misses. Sets of kWays lines; the least recently used line is replaced.
  explicit SectoredCache(std::uint64_t bytes) { reset(bytes); }
  // Makes it an empty cache of that size.
  void reset(std::uint64_t bytes);
  // Returns the sectors in `mask` that are present. allocate: afterwards all of them are.
  std::uint8_t look_up(std::uint64_t line, std::uint8_t mask, bool allocate);
  // As look_up(), if all sectors are present. Else it does nothing and returns false.
  bool touch(std::uint64_t line, std::uint8_t mask);
  // Empties the cache.
  void clear();

  static constexpr unsigned kWays =
      16;  // assumed: 4 to 64 differ by less than a point of hit rate in the lab's kernels

 private:
  // A set. short_tags, sectors and order lie in one host cache line; most lookups read no other but one tag.
  struct alignas(64) Set {
    std::uint16_t short_tags[kWays];  // some bits of each tag
    std::uint8_t sectors[kWays];
    std::uint64_t order;        // the ways, four bits each, the most recently used first
    std::uint64_t tags[kWays];  // line and generation
  };
  static constexpr unsigned kGenerationAt = 42;  // addresses have 49 bits and line numbers 42
  static constexpr std::uint64_t kGenerations = std::uint64_t{1} << (64 - kGenerationAt);

  Set& set_of(std::uint64_t line);
  unsigned way_of(const Set& set, std::uint64_t tag) const;  // kWays: it is not there
  void use(Set& set, unsigned way) const;
  void forget();

  std::uint64_t sets_count_ = 0, generation_ = 0;
  std::uint32_t ways_ = 0;
  std::vector<Set> sets_;
};

}  // namespace warpgrind::counters
