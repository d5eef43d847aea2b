// Share of a launch's blocks: the contiguous range of block numbers that one worker starts. The worker takes chunks
// from the front. A worker whose share is empty steals half of another share, from its end.
//
// Equal shares give the same worker about the same part of each launch, so that a program of many steps finds its lines
// in the cache of its own core. A steal from the end leaves the owner on the way that it took in the last launch, and
// the thief gets one contiguous range, too. Half of what is left needs a number of steals that grows with the logarithm
// of the grid, even if the blocks of one share have all the work.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/assert.h"

namespace warpgrind::device {

struct BlockRange {
  std::uint64_t begin = 0, end = 0;
  bool empty() const { return begin == end; }
  std::uint64_t size() const { return end - begin; }
};

// On a cache line of its own, since its worker writes it all the time.
class alignas(64) BlockShare {
 public:
  static constexpr std::uint64_t kMostBlocks = 0xffffffff;  // begin and end have 32 bits each

  // The share that worker `worker` of `workers` has at first.
  static BlockRange first_share(std::uint64_t blocks, unsigned workers, unsigned worker) {
    WG_DEBUG_ASSERT(blocks <= kMostBlocks && worker < workers);
    return {blocks * worker / workers, blocks * (worker + 1) / workers};
  }

  // Owner only, while the share is empty or to drop all of it.
  void set(BlockRange range) { word_.store(pack(range), std::memory_order_relaxed); }

  // Owner only: takes up to `most` blocks from the front. Empty: none are left.
  BlockRange take(std::uint64_t most) {
    std::uint64_t word = word_.load(std::memory_order_relaxed);
    for (;;) {
      const BlockRange all = unpack(word);
      const std::uint64_t middle = all.size() <= most ? all.end : all.begin + most;
      if (all.empty() || replace(word, {middle, all.end})) return {all.begin, middle};
    }
  }

  // Other workers: takes half of what is left from the end, rounded up. Empty: none are left.
  BlockRange steal() {
    std::uint64_t word = word_.load(std::memory_order_relaxed);
    for (;;) {
      const BlockRange all = unpack(word);
      const std::uint64_t middle = all.begin + all.size() / 2;
      if (all.empty() || replace(word, {all.begin, middle})) return {middle, all.end};
    }
  }

  std::uint64_t left() const { return unpack(word_.load(std::memory_order_relaxed)).size(); }

 private:
  static std::uint64_t pack(BlockRange r) { return r.begin << 32 | r.end; }
  static BlockRange unpack(std::uint64_t word) { return {word >> 32, word & 0xffffffff}; }
  // A word says all that there is to know of a share: if it is equal, the same blocks are left, whatever came between.
  bool replace(std::uint64_t& word, BlockRange by) {
    return word_.compare_exchange_weak(word, pack(by), std::memory_order_relaxed);
  }

  std::atomic<std::uint64_t> word_{0};
};
static_assert(sizeof(BlockShare) == 64 && std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace warpgrind::device
