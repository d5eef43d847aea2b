// Warps that go from barrier to barrier in turn (device/execution/rounds.h), and all that ends a round: each case has
// some plain barriers first, so that the round is on when it comes.
#include <string>

#include "ptx_kernel.h"

namespace warpgrind::device {
namespace {

// %rd3: the thread's word; %r3: the warp; %r20: shared memory; %r21: the thread's word there.
const char kStart[] =
    "shl.b32 %r2, %r1, 2; cvt.u64.u32 %rd2, %r2; add.u64 %rd3, %rd1, %rd2; shr.u32 %r3, %r1, 5;"
    "mov.u32 %r20, memory; add.u32 %r21, %r20, %r2; bar.sync 0; bar.sync 0; bar.sync 0;\n";

Kernel started(const std::string& body, unsigned workers = 1) {
  return Kernel(kStart + body, workers);
}

// Tickets of a counter in global memory: who ran when.
TEST(Rounds, WarpsTakeTurnsInTheirOrder) {
  Kernel k = started(
      "and.b32 %r4, %r1, 31; setp.ne.u32 %p1, %r4, 0; mov.u32 %r5, 0; mul.wide.u32 %rd4, %r3, 4; add.u64 %rd4, %rd4, "
      "%rd1;\n"
      "turn: @!%p1 atom.global.add.u32 %r6, [%rd1+4096], 1; @!%p1 st.global.u32 [%rd4], %r6; add.u64 %rd4, %rd4, 32;"
      "bar.sync 0; add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 5; @%p2 bra turn;\n");
  k.run(256);
  for (unsigned n = 0; n < 40; ++n) EXPECT_EQ(k.data[n], n);
}

TEST(Rounds, AWarpLeaves) {
  Kernel k = started(
      "setp.eq.u32 %p1, %r3, 1; @%p1 st.global.u32 [%rd3], 77; @%p1 ret; st.shared.u32 [%r21], %r1; bar.sync 0;"
      "xor.b32 %r4, %r1, 64; shl.b32 %r4, %r4, 2; add.u32 %r4, %r20, %r4; ld.shared.u32 %r5, [%r4]; bar.sync 0;"
      "bar.sync 0; st.global.u32 [%rd3], %r5;");
  for (const unsigned blocks : {1u, 4u}) k.run(128, blocks);
  // Warp 3 reads what warp 1 would have written.
  for (unsigned t = 0; t < 96; ++t) EXPECT_EQ(k.data[t], t / 32 == 1 ? 77u : t ^ 64) << t;
}

TEST(Rounds, SomeLanesLeave) {
  Kernel k = started(
      "setp.ge.u32 %p1, %r1, 40; @%p1 bra stay; ret;\n"
      "stay: bar.sync 0; st.shared.u32 [%r21], %r1; bar.sync 0; sub.u32 %r4, 135, %r1; shl.b32 %r4, %r4, 2;"
      "add.u32 %r4, %r20, %r4; ld.shared.u32 %r5, [%r4]; bar.sync 0; st.global.u32 [%rd3], %r5;");
  k.run(96, 2);
  for (unsigned t = 40; t < 96; ++t) EXPECT_EQ(k.data[t], 135 - t);
}

TEST(Rounds, AWarpWaitsWithinARegion) {
  Kernel k = started(
      "setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [%r20], 0; bar.sync 0; setp.eq.u32 %p2, %r3, 1; @!%p2 bra other;\n"
      "again: ld.volatile.shared.u32 %r4, [%r20]; setp.eq.u32 %p3, %r4, 0; @%p3 bra again; bra.uni both;\n"
      "other: setp.eq.u32 %p4, %r3, 3; @%p4 st.volatile.shared.u32 [%r20], 17;\n"
      "both: bar.sync 0; ld.shared.u32 %r5, [%r20]; bar.sync 0; st.global.u32 [%rd3], %r5;");
  for (const unsigned blocks : {1u, 5u}) k.run(128, blocks);
  for (unsigned t = 0; t < 128; ++t) EXPECT_EQ(k.data[t], 17u);
}

TEST(Rounds, SomeWarpsMeetAtAnotherBarrier) {
  Kernel k = started(
      "and.b32 %r4, %r3, 1; setp.eq.u32 %p1, %r4, 1; @%p1 bra odd; st.shared.u32 [%r21], 5; bar.sync 1, 64;\n"
      "xor.b32 %r6, %r1, 64; shl.b32 %r6, %r6, 2; add.u32 %r6, %r20, %r6; ld.shared.u32 %r5, [%r6]; bra.uni both;\n"
      "odd: mov.u32 %r5, 6; bar.arrive 2, 96; bra.uni both;\n"
      "both: bar.sync 0; st.global.u32 [%rd3], %r5; bar.sync 0;");
  k.run(128);
  for (unsigned t = 0; t < 128; ++t) EXPECT_EQ(k.data[t], t / 32 % 2 ? 6u : 5u);
}

TEST(Rounds, AReductionBetween) {
  Kernel k = started(
      "setp.lt.u32 %p1, %r1, 70; bar.red.popc.u32 %r4, 0, %p1; bar.sync 0; bar.sync 0; st.global.u32 [%rd3], %r4;");
  k.run(128, 3);
  for (unsigned t = 0; t < 128; ++t) EXPECT_EQ(k.data[t], 70u);
}

TEST(Rounds, LanesApartMeetWholeWarps) {
  Kernel k = started(
      "setp.lt.u32 %p1, %r1, 48; @%p1 bra first;\n"
      "st.shared.u32 [%r21], 3; bar.sync 0; bra.uni both;\n"
      "first: st.shared.u32 [%r21], 4; bar.sync 0;\n"
      "both: bar.sync 0; sub.u32 %r5, 95, %r1; shl.b32 %r5, %r5, 2; add.u32 %r5, %r20, %r5;"
      "ld.shared.u32 %r6, [%r5]; bar.sync 0; st.global.u32 [%rd3], %r6;");
  k.run(96);
  for (unsigned t = 0; t < 96; ++t) EXPECT_EQ(k.data[t], t >= 48 ? 4u : 3u);
}

TEST(Rounds, AFaultAmidARound) {
  Kernel k = started(
      "ld.global.u32 %r4, [%rd3]; setp.eq.u32 %p1, %r1, 64; setp.ne.and.u32 %p1, %r4, 0, %p1; @%p1 trap; bar.sync 0;"
      "bar.sync 0; st.global.u32 [%rd3+4096], 5;");
  for (unsigned t = 0; t < 128; ++t) k.data[t] = 1;
  const LaunchResult stopped = k.try_run(128, 4);
  ASSERT_TRUE(stopped.fault);
  EXPECT_EQ(stopped.fault->kind, FaultKind::trap);
  EXPECT_EQ(stopped.fault->thread.x, 64u);
  for (unsigned t = 0; t < 128; ++t) k.data[t] = 0;
  k.run(128, 4);
  for (unsigned t = 0; t < 128; ++t) EXPECT_EQ(k.data[1024 + t], 5u);
}

// The third of four warps waits elsewhere: two have come to the barrier in turn, and the list says where.
TEST(Rounds, ADeadlockNamesThoseThatWait) {
  Kernel k = started("setp.eq.u32 %p1, %r3, 2; @%p1 bra one;\nbar.sync 0;\nret;\none: bar.sync 1, 64;\nret;");
  const LaunchResult r = k.try_run(128);
  ASSERT_TRUE(r.fault);
  EXPECT_EQ(r.fault->kind, FaultKind::barrier_mismatch);
  ASSERT_EQ(r.fault->warps.size(), 4u);
  EXPECT_EQ(r.fault->warps[0].substr(r.fault->warps[0].find("PTX")),
            r.fault->warps[3].substr(r.fault->warps[3].find("PTX")));
  EXPECT_NE(r.fault->warps[0].substr(r.fault->warps[0].find("PTX")),
            r.fault->warps[2].substr(r.fault->warps[2].find("PTX")));
}

// A tree reduction.
TEST(Rounds, ManyBlocksOnTwoWorkers) {
  Kernel k = started(
      "st.shared.u32 [%r21], %r1; mov.u32 %r5, 128;\n"
      "turn: bar.sync 0; setp.lt.u32 %p1, %r1, %r5; shl.b32 %r6, %r5, 2; add.u32 %r6, %r21, %r6;"
      "@%p1 ld.shared.u32 %r7, [%r21]; @%p1 ld.shared.u32 %r8, [%r6]; @%p1 add.u32 %r7, %r7, %r8;"
      "@%p1 st.shared.u32 [%r21], %r7; shr.u32 %r5, %r5, 1; setp.ne.u32 %p2, %r5, 0; @%p2 bra turn;\n"
      "bar.sync 0; setp.eq.u32 %p3, %r1, 0; mov.u32 %r9, %ctaid.x; mul.wide.u32 %rd4, %r9, 4; add.u64 %rd4, %rd4, %rd1;"
      "@%p3 ld.shared.u32 %r10, [%r20]; @%p3 st.global.u32 [%rd4], %r10;",
      2);
  k.run(256, 500);
  for (unsigned b = 0; b < 500; ++b) EXPECT_EQ(k.data[b], 255u * 256 / 2) << b;
}

}  // namespace
}  // namespace warpgrind::device
