// The work of each block and of its slowest warp (events/block_work.h).
#include <string>

#include "ptx_kernel.h"

namespace warpgrind::device {
namespace {

// Rounds of the loop: those in %r4.
const std::string kLoop =
    "again: add.u32 %r5, %r5, 1; mad.lo.u32 %r6, %r6, %r5, 7; setp.lt.u32 %p1, %r5, %r4; @%p1 bra again;\n";

TEST(BlockWork, AWarpOfEachBlockDoesMore) {
  // Warp 2: 900 rounds, the others 100.
  Kernel k("shr.u32 %r3, %r1, 5; setp.eq.u32 %p2, %r3, 2; selp.u32 %r4, 900, 100, %p2;\n" + kLoop, 2);
  const LaunchResult r = k.run(128, 6);
  ASSERT_TRUE(r.counts.work);
  EXPECT_TRUE(r.counts.work->of_warps);
  ASSERT_EQ(r.counts.work->all.size(), 6u);
  for (unsigned b = 0; b < 6; ++b) {
    EXPECT_NEAR(r.counts.work->slowest[b] / r.counts.work->all[b], 900.0 / 1200, 0.02) << b;
    EXPECT_EQ(r.counts.work->all[b], r.counts.work->all[0]) << b;
  }
}

TEST(BlockWork, BlocksDiffer) {
  Kernel k("mov.u32 %r3, %ctaid.x; mad.lo.u32 %r4, %r3, 1000, 1000;\n" + kLoop);
  const LaunchResult r = k.run(64, 5);
  ASSERT_TRUE(r.counts.work);
  for (unsigned b = 0; b < 5; ++b) EXPECT_NEAR(r.counts.work->all[b] / r.counts.work->all[0], b + 1, 0.1) << b;
}

// Warps take turns at barriers. The counts of the code say how many of them entered a loop.
TEST(BlockWork, WithBarriersItIsThatOfTheBlock) {
  Kernel k("mov.u32 %r3, %ctaid.x; mad.lo.u32 %r4, %r3, 1000, 1000; bar.sync 0;\n" + kLoop + "bar.sync 0;\n");
  const LaunchResult r = k.run(128, 3);
  ASSERT_TRUE(r.counts.work);
  EXPECT_FALSE(r.counts.work->of_warps);
  for (unsigned b = 0; b < 3; ++b) {
    EXPECT_NEAR(r.counts.work->all[b] / r.counts.work->all[0], b + 1, 0.1) << b;
    EXPECT_FLOAT_EQ(r.counts.work->slowest[b], r.counts.work->all[b] / 4) << b;
  }
}

TEST(BlockWork, WithBarriersAWarpMayBeAloneInALoop) {
  Kernel k(
      "mov.u32 %r3, %ctaid.x; mad.lo.u32 %r4, %r3, 1000, 1000; bar.sync 0;\n"
      "shr.u32 %r3, %r1, 5; setp.ne.u32 %p2, %r3, 2; @%p2 bra over; mov.u32 %r5, 0;\n" +
          kLoop + "over: bar.sync 0;\n",
      2);
  const LaunchResult r = k.run(128, 3);
  ASSERT_TRUE(r.counts.work);
  EXPECT_FALSE(r.counts.work->of_warps);
  for (unsigned b = 0; b < 3; ++b) EXPECT_NEAR(r.counts.work->slowest[b] / r.counts.work->all[b], 1, 0.05) << b;
}

TEST(BlockWork, IsNotNotedWhereAllWarpsDoTheSame) {
  Kernel k("mov.u32 %r4, 100;\n" + kLoop);
  EXPECT_FALSE(k.run(128, 3).counts.work);
}

}  // namespace
}  // namespace warpgrind::device
