// Launches that run only some blocks: the choice of blocks, and their counts.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "device/execution/some_blocks.h"

namespace warpgrind::device {
namespace {

TEST(SpreadBlocks, AreSpreadOverTheGridWithItsEnds) {
  constexpr std::uint64_t kBlocks = 512 * 512, kCount = 256;
  const std::vector<std::uint64_t> chosen = spread_blocks(kBlocks, kCount);
  EXPECT_EQ(chosen.size(), kCount);
  EXPECT_EQ(chosen.front(), 0u);
  EXPECT_EQ(chosen.back(), kBlocks - 1);
  EXPECT_TRUE(std::is_sorted(chosen.begin(), chosen.end()));
  std::set<std::uint64_t> columns;
  for (const std::uint64_t b : chosen) columns.insert(b % 512 / 32);
  EXPECT_EQ(columns.size(), 16u);  // all parts of a row, although the grid's width divides the distance
}

TEST(SpreadBlocks, NoMoreThanThereAre) {
  EXPECT_EQ(spread_blocks(3, 256), (std::vector<std::uint64_t>{0, 1, 2}));
  EXPECT_EQ(spread_blocks(1, 1), std::vector<std::uint64_t>{0});
  for (std::uint64_t blocks = 2; blocks < 400; ++blocks) {
    const std::vector<std::uint64_t> chosen = spread_blocks(blocks, 97);
    EXPECT_EQ(std::set<std::uint64_t>(chosen.begin(), chosen.end()).size(), chosen.size());
    EXPECT_EQ(chosen.back(), blocks - 1);
  }
}

TEST(ScaleCounts, EveryCount) {
  events::LaunchCounts counts;
  counts.sites.resize(1);
  counts.sites[0].requests = 3;
  counts.sites[0].global.sectors = 12;
  counts.sites[0].shared.ideal_wavefronts = 1;
  counts.blocks = {{6, 192}};
  counts.branches = {{9, 3, 6, 3}};
  counts.guard_lanes = {33};
  counts.warps_launched = 6;
  scale_counts(counts, 100, 3);
  EXPECT_EQ(counts.sites[0].requests, 100u);
  EXPECT_EQ(counts.sites[0].global.sectors, 400u);
  EXPECT_EQ(counts.sites[0].shared.ideal_wavefronts, 33u);
  EXPECT_EQ(counts.blocks[0].lanes, 6400u);
  EXPECT_EQ(counts.branches[0].divergent, 100u);
  EXPECT_EQ(counts.guard_lanes[0], 1100u);
  EXPECT_EQ(counts.warps_launched, 200u);
}

}  // namespace
}  // namespace warpgrind::device
