// Footprint of a launch: the memory it touches, extrapolated from some of its blocks. Unit: stretches of 32-byte
// sectors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/recycling_allocator.h"
#include "events/cache_counts.h"
#include "gpu/types.h"

namespace warpgrind::counters {

struct Stretch {
  std::uint64_t begin = 0, end = 0;  // sectors: [begin, end)
  bool operator==(const Stretch&) const = default;
};
using Stretches = std::vector<Stretch, RecyclingAllocator<Stretch>>;  // sorted and disjoint, unless stated otherwise

Stretches merged(Stretches any_order);
// Sorts and merges those from index `first` on.
void merge_from(std::size_t first, Stretches& any_order);
Stretches united(const Stretches& a, const Stretches& b);
std::uint64_t sectors_in(const Stretches& stretches);
events::DistinctStretches distinct(const Stretches& stretches);

// `stretches` (merged) as `most` spans at most: neighbours are joined, those with the smallest gaps first.
std::vector<events::TouchedSpan> joined(const Stretches& stretches, std::size_t most);

// Hash table with 64 bits for each number.
class BitPages {
 public:
  struct Page {
    std::uint64_t number = kNone, bits = 0;
  };
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  std::uint64_t& bits(std::uint64_t number);
  bool empty() const { return used_.empty(); }
  std::size_t size() const { return used_.size(); }
  void clear();
  void append_sorted_to(std::vector<Page>& out) const;  // by number
  template <class Visit>
  void each(Visit&& visit) const {  // in the order in which the pages came
    for (const std::uint32_t k : used_) visit(pages_[k]);
  }

 private:
  Page& page(std::uint64_t number);
  std::vector<Page> pages_;
  std::vector<std::uint32_t> used_;  // entries of pages_
};

// Set of sectors that grows request by request.
class SectorSet {
 public:
  void add(std::uint64_t begin, std::uint64_t end) {
    Stretch& lately = lately_[begin / 4 % kLately];
    if (begin >= lately.begin && end <= lately.end) return;
    lately = {begin, end};
    add_new(begin, end);
  }
  void add(const Stretches& stretches) {
    for (const Stretch& s : stretches) add(s.begin, s.end);
  }
  bool empty() const { return count_ == 0 && pages_.empty(); }
  void clear() {
    count_ = 0;
    pages_.clear();
    lately_ = {};
  }
  Stretches stretches() const {
    Stretches out;
    append_to(out);
    return out;
  }
  // As the last ones of `out`, sorted and disjoint.
  void append_to(Stretches& out) const;

 private:
  void add_new(std::uint64_t begin, std::uint64_t end);
  void add_to_pages(std::uint64_t begin, std::uint64_t end);
  static constexpr std::size_t kFew = 16, kLately = 8;  // 16: the rows of a tile of 16 x 16
  std::array<Stretch, kLately> lately_{};               // added lately; by the line of the first sector
  std::array<Stretch, kFew> few_;                       // unordered; used until there are more
  std::size_t count_ = 0;                               // of few_
  BitPages pages_;
};

// Memory that one instruction touches in one block.
struct BlockStretches {
  Dim3 index{0, 0, 0};  // ctaid
  Stretches stretches;
};

// Blocks that touch the same shape, shifted by `step` sectors for each block along x, y and z.
struct Moved {
  Stretches shape;                            // of block (0, 0, 0)
  std::vector<const BlockStretches*> others;  // blocks with another shape
  double step[3] = {0, 0, 0};
};
// nullopt: fewer than half of the blocks agree, or they do not determine all steps. If steps are not whole sectors, the
// shapes differ at their ends; then a block agrees if it is within a sector of its expected place. Blocks at the edges
// of a grid may touch less.
std::optional<Moved> find_steps(const std::vector<BlockStretches>& blocks, const Dim3& grid);
// Memory that the first `blocks` blocks of a grid touch, cut to [range.first, range.second) (bytes; {0, 0}: not cut).
// nullopt: more than kMostStretches stretches, or a negative address.
inline constexpr std::size_t kMostStretches = 200'000;
std::optional<Stretches> moved_over(const Moved& moved, const Dim3& grid, std::uint64_t blocks,
                                    std::pair<std::uint64_t, std::uint64_t> range);

// Estimated amount that `blocks` blocks touch. `seen` of them touch `together` in total, and each touches `one` on
// average. Assumes that each block picks its part of some region at random. The result is `most` at most.
double extrapolated(double one, double together, double seen, double blocks, double most);

}  // namespace warpgrind::counters
