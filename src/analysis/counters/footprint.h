// Which memory a launch touches, worked out from what some of its blocks touch: as stretches of 32-byte sectors.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "events/cache_counts.h"
#include "gpu/types.h"

namespace warpgrind::counters {

struct Stretch {
  std::uint64_t begin = 0, end = 0;  // sectors: [begin, end)
  bool operator==(const Stretch&) const = default;
};
using Stretches = std::vector<Stretch>;  // sorted and apart, where nothing else is said

Stretches merged(Stretches any_order);
std::uint64_t sectors_in(const Stretches& stretches);
events::DistinctStretches distinct(const Stretches& stretches);

// 64 bits for each number.
class BitPages {
 public:
  struct Page {
    std::uint64_t number = kNone, bits = 0;
  };
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  std::uint64_t& bits(std::uint64_t number);
  bool empty() const { return used_ == 0; }
  void clear();
  const std::vector<Page>& pages() const { return pages_; }  // in no order; number kNone: none

 private:
  std::vector<Page> pages_;
  std::size_t used_ = 0;
};

// A set that grows request by request.
class SectorSet {
 public:
  void add(std::uint64_t begin, std::uint64_t end);
  void add(const Stretches& stretches) {
    for (const Stretch& s : stretches) add(s.begin, s.end);
  }
  bool empty() const { return few_.empty() && pages_.empty(); }
  void clear() {
    few_.clear();
    pages_.clear();
  }
  Stretches stretches() const;

 private:
  void add_to_pages(std::uint64_t begin, std::uint64_t end);
  static constexpr std::size_t kFew = 12;
  Stretches few_;  // in no order; while there are few
  BitPages pages_;
};

// What one instruction touches in one block.
struct BlockStretches {
  Dim3 index{0, 0, 0};  // ctaid
  Stretches stretches;
};

// Blocks that touch the same shape, moved by so many sectors for each block along x, y and z.
struct Moved {
  Stretches shape;                            // of block (0, 0, 0)
  std::vector<const BlockStretches*> others;  // blocks of another shape
  double step[3] = {0, 0, 0};
};
// nullopt: less than half of the blocks agree, or they do not tell all steps. Steps that are no whole sectors make
// shapes that differ at their ends: then blocks agree that are within a sector of where they should be. Blocks at the
// edges of a grid may touch less.
std::optional<Moved> find_steps(const std::vector<BlockStretches>& blocks, const Dim3& grid);
// All that the first `blocks` blocks of a grid touch, cut to [range.first, range.second) (bytes; none: {0, 0}).
// nullopt: more than kMostStretches apart.
inline constexpr std::size_t kMostStretches = 200'000;
std::optional<Stretches> moved_over(const Moved& moved, const Dim3& grid, std::uint64_t blocks,
                                    std::pair<std::uint64_t, std::uint64_t> range);

// How much `blocks` blocks touch when `seen` of them touch `together` and each `one` on average, if each takes its own
// at random from some region: of `most` at most.
double extrapolated(double one, double together, double seen, double blocks, double most);

}  // namespace warpgrind::counters
