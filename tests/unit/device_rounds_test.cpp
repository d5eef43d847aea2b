// Rounds: warps that take turns in machine code (device/execution/rounds.h), and everything that ends a round. Rounds:
// kernels with barriers; the case begins after some plain barriers. BlockInTurn: from the start of a block. InPlace:
// kernels without regions, in which a block's warps run one after the other in one context.
#include <unistd.h>

#include <fstream>
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

// Tickets from a counter in global memory record the order of warps.
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
  // Warp 3 reads a word that warp 1, which has left, does not write.
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

// The third of four warps waits at another barrier. Two warps reached the first barrier in turn; the list must name
// both.
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

// ---- From the start of a block

const char kPlain[] =
    "shl.b32 %r2, %r1, 2; cvt.u64.u32 %rd2, %r2; add.u64 %rd3, %rd1, %rd2; shr.u32 %r3, %r1, 5;"
    "mov.u32 %r20, memory; add.u32 %r21, %r20, %r2;\n";

// A kernel whose thread traps in the block given by data[4096]. It gives each thread its block's number.
void expect_fault_and_next_launch(Kernel& k, unsigned block, unsigned thread) {
  k.data[4096] = block;
  const LaunchResult stopped = k.try_run(128, 6);
  ASSERT_TRUE(stopped.fault);
  EXPECT_EQ(stopped.fault->block.x, block);
  EXPECT_EQ(stopped.fault->thread.x, thread);
  k.data[4096] = 99;
  k.run(96, 6);
  for (unsigned t = 0; t < 96; ++t) EXPECT_EQ(k.data[t], 5u);
}

// Thread t of each block gets a word that the neighbouring warp wrote, and its block's number.
TEST(BlockInTurn, EachBlockBeginsAnew) {
  Kernel k(
      std::string(kPlain) +
      "mov.u32 %r9, %ctaid.x; mad.lo.u32 %r4, %r9, 1000, %r1; st.shared.u32 [%r21], %r4; bar.sync 0;"
      "xor.b32 %r5, %r2, 128; add.u32 %r5, %r20, %r5; ld.shared.u32 %r6, [%r5];"
      "mad.lo.u32 %r7, %r9, 256, %r2; mad.lo.u32 %r7, %r9, 256, %r7; cvt.u64.u32 %rd4, %r7; add.u64 %rd4, %rd1, %rd4;"
      "st.global.u32 [%rd4], %r6;");
  for (const unsigned threads : {128u, 64u}) {
    const LaunchResult r = k.run(threads, 40);
    EXPECT_EQ(r.counts.warps_launched, 40u * threads / 32);
    EXPECT_EQ(r.counts.threads_launched, 40u * threads);
    for (unsigned b = 0; b < 40; ++b)
      for (unsigned t = 0; t < threads; ++t) EXPECT_EQ(k.data[b * 128 + t], b * 1000 + (t ^ 32)) << b << ' ' << t;
  }
}

TEST(BlockInTurn, WarpsLeaveBeforeTheFirstBarrier) {
  Kernel k(std::string(kPlain) +
           "and.b32 %r4, %r3, 1; setp.eq.u32 %p1, %r4, 0; @%p1 ret; st.shared.u32 [%r21], %r1; bar.sync 0;"
           "xor.b32 %r5, %r2, 256; add.u32 %r5, %r20, %r5; ld.shared.u32 %r6, [%r5]; bar.sync 0; st.global.u32 [%rd3], "
           "%r6;");
  for (const unsigned blocks : {1u, 7u}) {
    const LaunchResult r = k.run(128, blocks);
    EXPECT_EQ(r.counts.warps_launched, blocks * 4u);
    for (unsigned t = 0; t < 128; ++t) EXPECT_EQ(k.data[t], t / 32 % 2 ? t ^ 64 : 0u) << t;
  }
}

// The first warp waits for the last, which has not started.
TEST(BlockInTurn, AWarpWaitsForOneThatHasNotBegun) {
  Kernel k(std::string(kPlain) +
           "setp.eq.u32 %p2, %r3, 0; @!%p2 bra other;\n"
           "again: ld.volatile.global.u32 %r4, [%rd1+8192]; mov.u32 %r7, %ctaid.x; setp.le.u32 %p3, %r4, %r7; @%p3 bra "
           "again;"
           "bra.uni both;\n"
           "other: setp.eq.u32 %p4, %r1, 96; @%p4 atom.global.add.u32 %r8, [%rd1+8192], 1;\n"
           "both: st.shared.u32 [%r21], %r1; bar.sync 0; xor.b32 %r5, %r2, 384; add.u32 %r5, %r20, %r5;"
           "ld.shared.u32 %r6, [%r5]; bar.sync 0; st.global.u32 [%rd3], %r6;");
  k.run(128, 5);
  for (unsigned t = 0; t < 128; ++t) EXPECT_EQ(k.data[t], t ^ 96);
}

TEST(BlockInTurn, ADeadlockNamesWarpsThatWaitOnly) {
  Kernel k(std::string(kPlain) +
           "setp.eq.u32 %p1, %r3, 1; @%p1 bra one;\nbar.sync 0;\nret;\none: bar.sync 1, 64;\nret;");
  const LaunchResult r = k.try_run(96);
  ASSERT_TRUE(r.fault);
  EXPECT_EQ(r.fault->kind, FaultKind::barrier_mismatch);
  ASSERT_EQ(r.fault->warps.size(), 3u);
  const auto place = [&](unsigned warp) { return r.fault->warps[warp].substr(r.fault->warps[warp].find("PTX")); };
  EXPECT_EQ(place(0), place(2));
  EXPECT_NE(place(0), place(1));
}

TEST(BlockInTurn, AFaultAndTheNextLaunch) {
  Kernel k(std::string(kPlain) +
           "mov.u32 %r9, %ctaid.x; ld.global.u32 %r4, [%rd1+16384]; setp.eq.u32 %p1, %r9, %r4; setp.eq.and.u32 %p1, "
           "%r1, 40, %p1;"
           "@%p1 trap; st.shared.u32 [%r21], %r9; bar.sync 0; ld.shared.u32 %r5, [%r20]; st.global.u32 [%rd3], %r5;");
  expect_fault_and_next_launch(k, 3, 40);
}

// ---- In place

TEST(InPlace, EachWarpHasItsOwnThreads) {
  const std::string body =
      "mov.u32 %r10, %tid.x; mov.u32 %r11, %tid.y; mov.u32 %r12, %tid.z; mov.u32 %r13, %ntid.x; mov.u32 %r14, %ntid.y;"
      "mad.lo.u32 %r15, %r12, %r14, %r11; mad.lo.u32 %r15, %r15, %r13, %r10; mov.u32 %r16, %ctaid.x; mov.u32 %r17, "
      "%ctaid.y;"
      "mov.u32 %r4, %warpid; mad.lo.u32 %r18, %r17, 3, %r16; mad.lo.u32 %r19, %r18, 128, %r15; mul.wide.u32 %rd4, "
      "%r19, 4;"
      "add.u64 %rd4, %rd1, %rd4; shl.b32 %r5, %r4, 24; shl.b32 %r6, %r12, 16; or.b32 %r5, %r5, %r6; shl.b32 %r6, %r11, "
      "8;"
      "or.b32 %r5, %r5, %r6; or.b32 %r5, %r5, %r10; st.global.u32 [%rd4], %r5;";
  Kernel k(body);
  for (const Dim3 block : {Dim3{100, 1, 1}, Dim3{8, 4, 3}, Dim3{16, 8, 1}, Dim3{7, 5, 3}, Dim3{32, 3, 1}}) {
    LaunchConfig config;
    config.grid = {3, 7, 1};
    config.block = block;
    const LaunchResult r = k.run(config);
    const auto threads = static_cast<unsigned>(block.count());
    EXPECT_EQ(r.counts.warps_launched, 21u * ((threads + 31) / 32));
    EXPECT_EQ(r.counts.threads_launched, 21u * threads);
    for (unsigned b = 0; b < 21; ++b)
      for (unsigned t = 0; t < threads; ++t)
        EXPECT_EQ(k.data[b * 128 + t],
                  t / 32 << 24 | t / block.x / block.y << 16 | t / block.x % block.y << 8 | t % block.x)
            << b << ' ' << t;
  }
}

TEST(InPlace, LanesThatLeftAreBackInTheNextWarp) {
  Kernel k(std::string(kPlain) +
           "setp.lt.u32 %p1, %r1, 20; @%p1 exit; mov.u32 %r4, 0; mov.u32 %r5, %laneid;\n"
           "turn: setp.ge.u32 %p2, %r4, %r5; @%p2 exit; add.u32 %r4, %r4, 1; st.global.u32 [%rd3], %r4; bra.uni turn;");
  k.run(128, 3);
  for (unsigned t = 0; t < 128; ++t) EXPECT_EQ(k.data[t], t < 20 ? 0 : t % 32) << t;
}

// The second warp waits for a flag that the fourth one sets.
TEST(InPlace, AWarpWaitsForOneThatHasNotBegun) {
  Kernel k(std::string(kPlain) +
           "setp.eq.u32 %p2, %r3, 1; @!%p2 bra other;\n"
           "again: ld.volatile.global.u32 %r4, [%rd1+8192]; mov.u32 %r7, %ctaid.x; setp.le.u32 %p3, %r4, %r7; @%p3 bra "
           "again;"
           "bra.uni both;\n"
           "other: setp.eq.u32 %p4, %r1, 96; @%p4 atom.global.add.u32 %r8, [%rd1+8192], 1;\n"
           "both: atom.global.add.u32 %r9, [%rd3], 1;");
  const LaunchResult r = k.run(160, 6);
  EXPECT_EQ(r.counts.warps_launched, 30u);
  EXPECT_EQ(r.counts.threads_launched, 6u * 160);
  for (unsigned t = 0; t < 160; ++t) EXPECT_EQ(k.data[t], 6u);
}

// A call prevents regions in a kernel: its warps wait on their stacks, some after others have ended in place.
const char kFunction[] =
    ".func (.param .b32 out) twice(.param .b32 in)\n"
    "{\n.reg .b32 %r1; ld.param.b32 %r1, [in]; add.u32 %r1, %r1, %r1; st.param.b32 [out], %r1; ret;\n}\n";

TEST(InPlace, SomeWarpsEndAndOthersMeet) {
  Kernel k(
      std::string(kPlain) +
          "setp.lt.u32 %p1, %r3, 2; @%p1 ret; call (%r4), twice, (%r1); st.shared.u32 [%r21], %r4; bar.sync 0;"
          "setp.eq.u32 %p2, %r3, 3; @%p2 ret; xor.b32 %r5, %r2, 128; add.u32 %r5, %r20, %r5; ld.shared.u32 %r6, [%r5];"
          "bar.sync 0; st.global.u32 [%rd3], %r6;",
      1, nullptr, kFunction);
  const LaunchResult r = k.run(192, 9);
  EXPECT_EQ(r.counts.warps_launched, 54u);
  for (unsigned t = 0; t < 192; ++t) EXPECT_EQ(k.data[t], t / 32 < 2 || t / 32 == 3 ? 0 : 2 * (t ^ 32)) << t;
}

TEST(InPlace, AFaultNamesItsWarpAndTheNextLaunchRuns) {
  Kernel k(std::string(kPlain) +
           "mov.u32 %r9, %ctaid.x; ld.global.u32 %r4, [%rd1+16384]; setp.eq.u32 %p1, %r9, %r4; setp.eq.and.u32 %p1, "
           "%r1, 70, %p1;"
           "@%p1 trap; st.global.u32 [%rd3], %r9;");
  expect_fault_and_next_launch(k, 2, 70);
}

std::uint64_t resident_bytes() {
  std::ifstream in("/proc/self/statm");
  std::uint64_t size = 0, resident = 0;
  in >> size >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

// Blocks leave their round early, at a barrier that ends no region. The next block must reuse their warps. (One context
// is 3.6 KB: 40,000 blocks kept 144 MB.)
TEST(Rounds, WarpsAreUsedAgainAfterARoundWasLeft) {
  const std::string body =
      "setp.ne.u32 %p1, %r1, 0; @!%p1 st.shared.u32 [%r20], 1; bar.sync 0; setp.gt.u32 %p2, %r1, 31; @%p2 bra both;\n"
      "ld.shared.u32 %r5, [%r20]; add.u32 %r5, %r5, 1; @!%p1 st.shared.u32 [%r20], %r5;\n"
      "both: bar.sync 0; ld.shared.u32 %r5, [%r20]; st.global.u32 [%rd3], %r5;";
  for (const unsigned threads : {32u, 64u}) {
    Kernel k = started(body);
    k.run(threads, 1000);
    const std::uint64_t before = resident_bytes();
    k.run(threads, 40'000);
    EXPECT_LT(resident_bytes(), before + (std::uint64_t{16} << 20)) << threads;
    for (unsigned t = 0; t < threads; ++t) EXPECT_EQ(k.data[t], 2u);
  }
}

}  // namespace
}  // namespace warpgrind::device
