// What lanes that make a request together touch, where neighbours do so by groups of 4 or 8 (the texture unit): all of
// a warp's requests at once, in vector code.
#pragma once

#include <cstdint>
#include <span>

#include "base/cpu.h"
#include "gpu/access_rules.h"
#include "gpu/sectors.h"
#include "gpu/types.h"

namespace warpgrind {

// For each of the first `count` arrays, the lanes on whose value no lower lane of the same group of `group` (4 or 8)
// neighbours has in the same array, and none of that group in an array before. Values of lanes on are not negative; of
// lanes off they are -1.
inline constexpr unsigned kMostOfEach = 8;
void first_of_neighbours(const std::int32_t (*values)[kWarpSize], unsigned count, unsigned group, LaneMask* first);

// A plane of texels, and those that a warp reads: each group of `group` neighbours makes a request for all of theirs.
struct SectorGrid {
  // Texels are 1 << byte_shift bytes, and a sector is 1 << column_shift bytes of 1 << row_shift rows.
  unsigned byte_shift = 2, column_shift = 5, row_shift = 0;
  std::int32_t skew = 0;                           // texels from a multiple of 128 bytes to the first
  std::int32_t columns = 1, rows = 1, slices = 1;  // in sectors; each slice has `rows` of its own
  friend bool operator==(const SectorGrid&, const SectorGrid&) = default;
};
struct GridTexels {
  const SectorGrid* grid = nullptr;
  unsigned axes = 1, corners = 1;
  const std::uint8_t* corner = nullptr;                 // bit d: the upper neighbour along axis d
  const LaneMask* on = nullptr;                         // by corner
  const std::int32_t (*index)[2][kWarpSize] = nullptr;  // by axis and side; the last is the slice
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
// By the rule of 32-byte sectors, what global_cost() says of each group; adds to `counts`. Of several planes, which
// share no line, a request reads from each. wide: by AVX-512.
void count_grids(std::span<const GridTexels> texels, unsigned group, GridCounts& counts, bool wide = kHaveAvx512);

// Sums over many warps' requests. Patterns of texels come again and again, a few texels further on: what costs the same
// as one before is not counted but compared (10 ns where counting takes 40).
class GridCounter {
 public:
  struct Sums {
    GridCounts counts;
    std::uint64_t bytes = 0;             // of the texels
    std::uint64_t warps = 0, lanes = 0;  // that made requests
  };
  explicit GridCounter(bool wide = kHaveAvx512) : wide_(wide) {}
  // `mask`: lanes of the instruction.
  void count(std::span<const GridTexels> texels, unsigned group, LaneMask mask);
  Sums take();  // and begins anew

 private:
  // Texels as bytes, from the first lane's lower one on; which these are, and where that one lies in its line.
  struct Pattern {
    alignas(64) std::int8_t texels[3][2][kWarpSize];
    LaneMask on[kMostOfEach];
    LaneMask mask;
    std::uint64_t kind = 0, hits = 0;  // 0: empty
    SectorGrid grid;
    GridCounts counts;
  };
  static constexpr unsigned kPatterns = 64;
  Pattern patterns_[kPatterns];
  Sums sums_;
  std::uint32_t missed_ = 0;  // since the last hit
  bool wide_;

  void add(const GridCounts& counts, unsigned byte_shift, LaneMask mask, std::uint64_t times);
};

}  // namespace warpgrind
