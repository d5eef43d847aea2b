// Counts of distinct sectors and lines for texture requests. The texture unit makes one request for each group of 4 or
// 8 neighbouring lanes. All requests of a warp are counted at once, in vector code.
#pragma once

#include <cstdint>
#include <span>

#include "base/cpu.h"
#include "gpu/access_rules.h"
#include "gpu/sectors.h"
#include "gpu/types.h"

namespace warpgrind {

// Marks the first occurrence of each value within groups of `group` (4 or 8) neighbours. A lane is in first[k] if no
// lower lane of its group has its value in array k, and no lane of the group has it in an earlier array. `count`:
// number of arrays. Values are not negative for active lanes and -1 for inactive ones.
inline constexpr unsigned kMostOfEach = 8;
void first_of_neighbours(const std::int32_t (*values)[kWarpSize], unsigned count, unsigned group, LaneMask* first);

// Plane of texels, divided into sectors.
struct SectorGrid {
  // A texel has 1 << byte_shift bytes. A sector covers 1 << column_shift bytes of each of 1 << row_shift rows.
  unsigned byte_shift = 2, column_shift = 5, row_shift = 0;
  std::int32_t skew = 0;                           // texels between a multiple of 128 bytes and the first texel
  std::int32_t columns = 1, rows = 1, slices = 1;  // in sectors; each slice has its own `rows`
  friend bool operator==(const SectorGrid&, const SectorGrid&) = default;
};
struct GridTexels {
  const SectorGrid* grid = nullptr;
  unsigned axes = 1, corners = 1;
  const std::uint8_t* corner = nullptr;                 // bit d: the upper neighbour along axis d
  const LaneMask* on = nullptr;                         // active lanes, by corner
  const std::int32_t (*index)[2][kWarpSize] = nullptr;  // by axis and side; the last axis is the slice
};
struct GridCounts {
  std::uint64_t requests = 0, sectors = 0, lines = 0, ideal_sectors = 0, texels = 0;
  void add(const GridCounts& other, std::uint64_t times) {
    requests += other.requests * times;
    sectors += other.sectors * times;
    lines += other.lines * times;
    ideal_sectors += other.ideal_sectors * times;
    texels += other.texels * times;
  }
};
// Counts requests by the rule of 32-byte sectors, like global_cost() for each group, and adds to `counts`. A request
// reads from every plane in `texels`; planes share no line. wide: use AVX-512.
void count_grids(std::span<const GridTexels> texels, unsigned group, GridCounts& counts, bool wide = kHaveAvx512);

// Sum of the costs of many warps' requests. Patterns of texels recur, a few texels further on. A recurring pattern
// costs the same, so it is only compared (10 ns), not counted again (40 ns).
class GridCounter {
 public:
  struct Sums {
    GridCounts counts;
    std::uint64_t bytes = 0;             // bytes of the texels
    std::uint64_t warps = 0, lanes = 0;  // those that made requests
  };
  explicit GridCounter(bool wide = kHaveAvx512) : wide_(wide) {}
  // `mask`: active lanes of the instruction.
  void count(std::span<const GridTexels> texels, unsigned group, LaneMask mask);
  Sums take();  // also resets the sums

 private:
  // `texels`: indexes as bytes, relative to the first lane's lower texel. `kind`: number of axes, corners and lanes a
  // group, and the position of that texel in its line. kind 0: empty entry.
  struct Pattern {
    alignas(64) std::int8_t texels[3][2][kWarpSize];
    LaneMask on[kMostOfEach];
    LaneMask mask;
    std::uint64_t kind = 0, hits = 0;
    SectorGrid grid;
    GridCounts counts;
  };
  static constexpr unsigned kPatterns = 64;
  Pattern patterns_[kPatterns];
  Sums sums_;
  std::uint32_t missed_ = 0;  // counted patterns since the last hit
  bool wide_;

  void add(const GridCounts& counts, unsigned byte_shift, LaneMask mask, std::uint64_t times);
};

}  // namespace warpgrind
