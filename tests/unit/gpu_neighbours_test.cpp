// Cost of a warp's texels (gpu/neighbours.h) against global_cost() for one group of neighbours after the other.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "gpu/neighbours.h"

namespace warpgrind {
namespace {

struct Case {
  unsigned axes, corners, group;
  std::int32_t spread;  // range along an axis that holds a warp's texels
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.axes << " axes, " << c.corners << " corners, groups of " << c.group << ", spread " << c.spread;
}

class Neighbours : public testing::TestWithParam<std::tuple<Case, bool>> {
 protected:
  std::mt19937 random_{11};
  std::int32_t below(std::int32_t n) { return static_cast<std::int32_t>(random_() % static_cast<std::uint32_t>(n)); }

  SectorGrid grid(unsigned axes) {
    SectorGrid g;
    g.byte_shift = static_cast<unsigned>(below(5));
    const bool tiled = axes > 1 && below(4) != 0;
    g.column_shift = tiled ? 4 : 5;
    g.row_shift = tiled ? 1 : 0;
    if (!tiled) g.skew = below(128 >> g.byte_shift);
    g.columns = 1 + below(below(2) ? 12 : 300);
    g.rows = axes > 1 ? 1 + below(100) : 1;
    g.slices = axes == 3 || below(3) == 0 ? 1 + below(9) : 1;
    return g;
  }

  static std::array<std::int32_t, 3> texels_of(const SectorGrid& g) {
    return {g.columns << (g.column_shift - std::min(g.column_shift, g.byte_shift)), g.rows << g.row_shift, g.slices};
  }

  // A warp's texels, in the corner order of PTX or of a gather.
  struct Texels {
    std::int32_t index[3][2][kWarpSize];
    LaneMask on[kMostOfEach];
    std::uint8_t corner[kMostOfEach] = {0, 1, 2, 3, 4, 5, 6, 7};
  };
  void fill(const Case& c, const SectorGrid& g, Texels& t) {
    const std::array<std::int32_t, 3> most = texels_of(g);
    const std::int32_t steps[3] = {below(3), below(2), below(2)};
    for (unsigned d = 0; d < 3; ++d) {
      const std::int32_t first = below(2) ? below(most[d]) : most[d] - 1 - below(std::min(most[d], 40));  // some wrap
      for (unsigned l = 0; l < kWarpSize; ++l) {
        const std::int32_t at = c.spread ? first + below(c.spread) : first + steps[d] * static_cast<std::int32_t>(l);
        t.index[d][0][l] = at % most[d];
        t.index[d][1][l] = (at + 1) % most[d];
      }
    }
    for (LaneMask& on : t.on) on = below(3) ? kFullMask : static_cast<LaneMask>(random_());
    if (c.axes == 2 && c.corners == 4 && below(4) == 0)
      for (unsigned k = 0; k < 4; ++k)
        t.corner[k] = k < 2 ? static_cast<std::uint8_t>(k + 2) : static_cast<std::uint8_t>(3 - k);
  }

  // Counts one texel after the other.
  GridCounts expected(const Case& c, const SectorGrid& g, const Texels& t) {
    GridCounts want;
    for (unsigned first = 0; first < kWarpSize; first += c.group) {
      std::int64_t offsets[kWarpSize] = {};
      unsigned n = 0;
      for (unsigned k = 0; k < c.corners; ++k)
        for (unsigned l = first; l < first + c.group; ++l) {
          if (!(t.on[k] >> l & 1)) continue;
          const unsigned corner = t.corner[k];
          const std::int64_t x = t.index[0][corner & 1][l] + g.skew;
          const std::int64_t y = c.axes > 1 ? t.index[1][corner >> 1 & 1][l] : 0;
          const std::int64_t slice = g.slices > 1 ? t.index[2][c.axes == 3 ? corner >> 2 : 0][l] : 0;
          const std::int64_t sector =
              (slice * g.rows + (y >> g.row_shift)) * g.columns + (x << g.byte_shift >> g.column_shift);
          const std::int64_t byte = (x << g.byte_shift) & ((1 << g.column_shift) - 1),
                             side = y & ((1 << g.row_shift) - 1);
          offsets[n++] = sector * 32 + side * 16 + byte;
        }
      if (n == 0) continue;
      ++want.requests;
      want.texels += n;
      const AccessCost cost = global_cost({}, AccessType::load, offsets,
                                          n == kWarpSize ? kFullMask : (LaneMask{1} << n) - 1, 1u << g.byte_shift);
      want.sectors += cost.sectors;
      want.lines += cost.lines;
      want.ideal_sectors += cost.ideal_sectors;
    }
    return want;
  }
};

void expect_equal(const GridCounts& got, const GridCounts& want, unsigned turn) {
  ASSERT_EQ(got.requests, want.requests) << "turn " << turn;
  ASSERT_EQ(got.sectors, want.sectors) << "turn " << turn;
  ASSERT_EQ(got.lines, want.lines) << "turn " << turn;
  ASSERT_EQ(got.ideal_sectors, want.ideal_sectors) << "turn " << turn;
  ASSERT_EQ(got.texels, want.texels) << "turn " << turn;
}

TEST_P(Neighbours, CostWhatTheyCostOneByOne) {
  const auto [c, wide] = GetParam();
  if (wide && !kHaveAvx512) GTEST_SKIP();
  for (unsigned turn = 0; turn < 1000; ++turn) {
    const SectorGrid g = grid(c.axes);
    alignas(64) Texels t;
    fill(c, g, t);
    GridCounts got;
    const GridTexels texels[] = {{&g, c.axes, c.corners, t.corner, t.on, t.index}};
    count_grids(texels, c.group, got, wide);
    ASSERT_NO_FATAL_FAILURE(expect_equal(got, expected(c, g, t), turn));
  }
}

// A counter reuses the cost of patterns that it has seen before, at any address.
TEST_P(Neighbours, AddUp) {
  const auto [c, wide] = GetParam();
  if (wide && !kHaveAvx512) GTEST_SKIP();
  GridCounter counter(wide);
  for (unsigned turn = 0; turn < 200; ++turn) {
    const SectorGrid g = grid(c.axes);
    alignas(64) Texels t;
    fill(c, g, t);
    GridCounts want;
    std::uint64_t warps = 0, bytes = 0;
    for (unsigned step = 0; step < 30; ++step) {
      const GridCounts one = expected(c, g, t);
      want.add(one, 1);
      warps += one.requests != 0;
      bytes += one.texels << g.byte_shift;
      const GridTexels texels[] = {{&g, c.axes, c.corners, t.corner, t.on, t.index}};
      counter.count(texels, c.group, kFullMask);
      const std::int32_t by[3] = {below(3) * (1 << below(4)), below(2), below(6) == 0 ? 1 : 0};
      for (unsigned d = 0; d < 3; ++d)
        for (auto& side : t.index[d])
          for (std::int32_t& at : side) at = (at + by[d]) % texels_of(g)[d];
      if (below(20) == 0) t.on[below(static_cast<std::int32_t>(c.corners))] = static_cast<LaneMask>(random_());
    }
    const GridCounter::Sums got = counter.take();
    ASSERT_NO_FATAL_FAILURE(expect_equal(got.counts, want, turn));
    ASSERT_EQ(got.warps, warps);
    ASSERT_EQ(got.lanes, warps * kWarpSize);
    ASSERT_EQ(got.bytes, bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(Groups, Neighbours,
                         testing::Combine(testing::Values(Case{1, 1, 8, 0}, Case{1, 1, 8, 4096}, Case{1, 1, 4, 8},
                                                          Case{1, 2, 4, 0}, Case{1, 2, 4, 40}, Case{2, 1, 4, 0},
                                                          Case{2, 1, 4, 300}, Case{2, 4, 4, 0}, Case{2, 4, 4, 9},
                                                          Case{2, 4, 4, 1000}, Case{3, 1, 4, 2}, Case{3, 8, 4, 0},
                                                          Case{3, 8, 4, 4}, Case{3, 8, 4, 100}),
                                          testing::Bool()));

}  // namespace
}  // namespace warpgrind
