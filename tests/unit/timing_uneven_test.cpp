// What uneven warps and blocks cost: limits that follow from the definition, and orders whose end is known.
#include <gtest/gtest.h>

#include "timing/uneven.h"

namespace warpgrind::timing {
namespace {

constexpr unsigned kSms = 4;

// Blocks of 2 warps; `blocks` gives the work of both, and of the slower.
LaunchWork with(const events::BlockWork& blocks, double resident = 2) {
  LaunchWork work;
  work.warps_per_block = 2;
  work.resident_blocks = resident;
  work.blocks = static_cast<double>(blocks.all.size());
  add_unevenness(work, blocks, kSms);
  return work;
}

events::BlockWork even(std::size_t blocks) {
  return {std::vector<float>(blocks, 2), std::vector<float>(blocks, 1), true};
}

TEST(Uneven, EvenBlocksCostNothing) {
  const LaunchWork work = with(even(64));
  EXPECT_EQ(work.uneven_1, 0) << "not even recorded";
  for (const double at_once : {0.5, 1.0, 3.0, 100.0}) EXPECT_EQ(unevenness(work, at_once), 1);
}

// Eight places: all 8 blocks run at once. The long one takes 9 times the mean of the others.
TEST(Uneven, OneLongWarpLastsAsLongAsItself) {
  events::BlockWork blocks = even(8);
  blocks.all[3] = 10, blocks.slowest[3] = 9;
  const double mean = (7 * 2 + 10) / 16.0;
  EXPECT_NEAR(unevenness(with(blocks), 64), 9 / mean, 1e-6);
}

// One warp at a time on each SM: its own work counts, and the other SMs wait for the last.
TEST(Uneven, ABusySmSharesItsUnits) {
  events::BlockWork blocks = even(8);
  blocks.all[3] = 6, blocks.slowest[3] = 3;
  const double mean = (7 * 2 + 6) / 16.0;
  // The SM with the long block has 8 units of work, 4 are the mean of all SMs' even shares.
  EXPECT_NEAR(unevenness(with(blocks), 1), 8 / mean / 4, 1e-6);
}

TEST(Uneven, AWarpOfEachBlockHoldsItsPlace) {
  events::BlockWork blocks = even(80);
  for (std::size_t b = 0; b < 80; ++b) blocks.all[b] = 8, blocks.slowest[b] = 7;
  EXPECT_NEAR(unevenness(with(blocks), 64), 7.0 / 4, 1e-6);
  EXPECT_NEAR(unevenness(with(blocks), 1), 1, 0.2) << "the SM is busy all the time";
}

TEST(Uneven, ALongBlockAtTheEndCostsMoreThanOneAtTheBeginning) {
  events::BlockWork first = even(80), last = even(80);
  first.all[0] = last.all[79] = 10, first.slowest[0] = last.slowest[79] = 5;
  EXPECT_GT(unevenness(with(last), 64), 1.2 * unevenness(with(first), 64));
}

TEST(Uneven, LargeGridsAreTakenInRuns) {
  events::BlockWork blocks = even(1 << 18);
  blocks.slowest[17] = 1e6F, blocks.all[17] = 1e6F + 1;
  const double mean = (2.0 * (1 << 18) + 1e6) / (2.0 * (1 << 18));
  // Alone, it takes longer than all others.
  EXPECT_NEAR(unevenness(with(blocks), 64) * (1 << 18) / 8 / (1e6 / mean), 1, 0.1);
}

// 8 places: stretches of 8 blocks.
TEST(Uneven, LongStretchesOfIdleBlocksAreEmpty) {
  events::BlockWork blocks = even(80);
  for (std::size_t b = 20; b < 80; ++b) blocks.all[b] = 0.2F, blocks.slowest[b] = 0.1F;
  EXPECT_EQ(with(blocks).empty_blocks, 56) << "blocks 16 to 23 are one stretch, of which a half works";
  for (std::size_t b = 0; b < 80; ++b) blocks.all[b] = b % 4 == 0 ? 8.F : 0.2F;
  EXPECT_EQ(with(blocks).empty_blocks, 0) << "each stretch has blocks that work";
}

// lombscargle of HeCBench: 391 of 100096 blocks work. Here 9 of 2^17, on 8 places.
TEST(Uneven, LargeGridsKeepBlocksWithMuchWorkApart) {
  events::BlockWork blocks = even(1 << 17);
  for (std::size_t b = 0; b < 9; ++b) blocks.slowest[b] = 1e6F, blocks.all[b] = 2e6F;
  EXPECT_NEAR(unevenness(with(blocks), 64), 2e6 / ((9e6 + (1 << 17)) / 8), 0.02);
}

// With barriers, a warp may be alone in a loop while the others wait (particlefilter of Rodinia).
TEST(Uneven, AWarpAloneInALoopCountsInFewBlocks) {
  events::BlockWork blocks = even(200);
  blocks.of_warps = false;
  blocks.all[0] = blocks.slowest[0] = 1e6F;
  EXPECT_GT(unevenness(with(blocks), 64), 10);
  for (std::size_t b = 1; b < 200; ++b) blocks.all[b] = 10, blocks.slowest[b] = 6;  // a little alone
  EXPECT_GT(unevenness(with(blocks), 64), 10);
  blocks.all.assign(200, 10);
  for (const float slowest : {10.0F, 7.0F, 5.2F}) {
    blocks.slowest.assign(200, slowest);  // LaunchWork::slowest_290 has it
    EXPECT_EQ(unevenness(with(blocks), 64), 1);
  }
}

}  // namespace
}  // namespace warpgrind::timing
