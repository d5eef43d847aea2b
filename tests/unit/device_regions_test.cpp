// Regions: a warp's code between two barriers. At a border, its state is only in its frame (codegen/kernel/regions.h).
#include <string>

#include "ptx_kernel.h"

namespace warpgrind::device {
namespace {

std::uint64_t frame_of(Kernel& k, unsigned threads) {
  const auto compiled = k.device->compiled(k.handle, 0, {threads, 1, 1});
  EXPECT_TRUE(compiled.ok());
  return compiled.ok() ? (*compiled)->region_bytes : 0;
}

const char kAddress[] = "shl.b32 %r2, %r1, 2; cvt.u64.u32 %rd2, %r2; add.u64 %rd3, %rd1, %rd2;\n";

TEST(Regions, FrameHoldsWhatLivesAcrossABarrier) {
  // The frame holds %r3 of 32 lanes and the pointer, but neither the thread index nor values computed from it.
  Kernel k(std::string(kAddress) +
           "ld.global.u32 %r3, [%rd3]; bar.sync 0; add.u32 %r4, %r3, 1;"
           "st.global.u32 [%rd1], %r4;");
  EXPECT_EQ(frame_of(k, 64), 64u + 128);
  Kernel none(std::string(kAddress) + "ld.global.u32 %r3, [%rd3]; st.global.u32 [%rd3], %r3;");
  EXPECT_EQ(frame_of(none, 64), 0u);
}

TEST(Regions, ValuesOfEveryKindComeBack) {
  Kernel k(std::string(kAddress) +
           "ld.global.u32 %r3, [%rd3]; cvt.u16.u32 %h1, %r3; cvt.u64.u32 %rd4, %r3; shl.b64 %rd4, %rd4, 33;"
           "cvt.rn.f32.u32 %f1, %r3; cvt.rn.f64.u32 %fd1, %r3; and.b32 %r4, %r3, 1; setp.eq.u32 %p1, %r4, 1;"
           "mov.u32 %r5, %ctaid.x; setp.eq.u32 %p2, %r5, 0; cvt.rn.f64.u32 %fd2, %r5; mul.lo.u32 %r6, %r1, %r5;\n"
           "bar.sync 0;\n"
           "add.u16 %h1, %h1, 1; add.f32 %f1, %f1, 0f3F800000; selp.u32 %r7, 1000, 0, %p1; selp.u32 %r8, 5, 7, %p2;\n"
           "bar.sync 0;\n"
           "cvt.u32.u16 %r9, %h1; shr.u64 %rd4, %rd4, 33; cvt.u32.u64 %r10, %rd4; cvt.rzi.u32.f32 %r11, %f1;"
           "add.f64 %fd1, %fd1, %fd2; cvt.rzi.u32.f64 %r12, %fd1;"
           "add.u32 %r13, %r7, %r8; add.u32 %r13, %r13, %r9; add.u32 %r13, %r13, %r10; add.u32 %r13, %r13, %r11;"
           "add.u32 %r13, %r13, %r12; add.u32 %r13, %r13, %r6; mad.lo.u32 %r14, %r5, 512, %r2; cvt.u64.u32 %rd5, %r14;"
           "add.u64 %rd6, %rd1, %rd5; st.global.u32 [%rd6+4096], %r13;");
  constexpr unsigned kThreads = 100;  // the last warp has 4
  for (unsigned t = 0; t < kThreads; ++t) k.data[t] = t * 7;
  k.run(kThreads, 2);
  for (unsigned b = 0; b < 2; ++b)
    for (unsigned t = 0; t < kThreads; ++t) {
      const unsigned v = t * 7, flags = (v & 1 ? 1000 : 0) + (b == 0 ? 5 : 7);
      EXPECT_EQ(k.data[1024 + b * 128 + t], flags + (v + 1) + v + (v + 1) + (v + b) + t * b) << b << ' ' << t;
    }
}

// Values that loops with barriers read and do not write, from both sides of a branch and from the outer loop.
TEST(Regions, WhatALoopDoesNotWriteComesBackInEveryTurn) {
  Kernel k(
      std::string(kAddress) +
      "mov.u32 %r20, memory; add.u32 %r21, %r20, %r2; xor.b32 %r22, %r2, 128; add.u32 %r22, %r20, %r22;"
      "ld.global.u32 %r3, [%rd3]; and.b32 %r4, %r1, 16; setp.eq.u32 %p1, %r4, 0; @%p1 bra low;\n"
      "mul.lo.u32 %r5, %r3, 3; bra.uni both;\nlow: add.u32 %r5, %r3, 7;\nboth: mov.u32 %r6, 0; mov.u32 %r7, 0;\n"
      "outer: mul.lo.u32 %r8, %r7, 100; add.u32 %r8, %r8, %r1; mov.u32 %r9, 0;\n"
      "inner: add.u32 %r10, %r5, %r8; st.shared.u32 [%r21], %r10; bar.sync 0; ld.shared.u32 %r11, [%r22]; bar.sync 0;"
      "mad.lo.u32 %r6, %r11, %r9, %r6; add.u32 %r6, %r6, %r5; add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, 4;"
      "@%p2 bra inner;\n"
      "add.u32 %r7, %r7, 1; setp.lt.u32 %p3, %r7, 3; @%p3 bra outer;\n"
      "add.u32 %r6, %r6, %r5; st.global.u32 [%rd3+4096], %r6;");
  for (unsigned t = 0; t < 128; ++t) k.data[t] = t * t;
  k.run(128, 3);
  const auto own = [](unsigned t) { return t & 16 ? t * t * 3 : t * t + 7; };
  for (unsigned t = 0; t < 128; ++t) {
    unsigned sum = own(t);
    for (unsigned outer = 0; outer < 3; ++outer)
      for (unsigned inner = 0; inner < 4; ++inner) sum += (own(t ^ 32) + outer * 100 + (t ^ 32)) * inner + own(t);
    EXPECT_EQ(k.data[1024 + t], sum) << t;
  }
}

// Each turn of a loop is two regions. All warps use the same barrier instructions.
TEST(Regions, BarriersInALoop) {
  Kernel k(std::string(kAddress) +
           "mov.u32 %r20, memory; add.u32 %r21, %r20, %r2; xor.b32 %r22, %r1, 32; shl.b32 %r22, %r22, 2;"
           "add.u32 %r22, %r20, %r22; mov.u32 %r3, %r1; mov.u32 %r4, 0;\n"
           "turn: st.shared.u32 [%r21], %r3; bar.sync 0; ld.shared.u32 %r5, [%r22]; bar.sync 0;"
           "add.u32 %r3, %r3, %r5; add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 10; @%p1 bra turn;\n"
           "st.global.u32 [%rd3], %r3;");
  k.run(256);
  for (unsigned t = 0; t < 256; ++t) EXPECT_EQ(k.data[t], (t + (t ^ 32)) * 512);
}

TEST(Regions, WarpsThatLeaveAreNotWaitedFor) {
  Kernel k(std::string(kAddress) +
           "setp.ge.u32 %p1, %r1, 75; @%p1 ret; mov.u32 %r20, memory; add.u32 %r21, %r20, %r2;"
           "st.shared.u32 [%r21], %r1; bar.sync 0; sub.u32 %r5, 74, %r1; shl.b32 %r5, %r5, 2; add.u32 %r5, %r20, %r5;"
           "ld.shared.u32 %r6, [%r5]; bar.sync 0; setp.ge.u32 %p2, %r1, 64; @%p2 ret; bar.sync 0;"
           "st.global.u32 [%rd3], %r6;");
  k.run(160, 3);
  for (unsigned t = 0; t < 64; ++t) EXPECT_EQ(k.data[t], 74 - t);
}

TEST(Regions, Reductions) {
  Kernel k(std::string(kAddress) +
           "and.b32 %r3, %r1, 3; setp.eq.u32 %p1, %r3, 0; bar.red.popc.u32 %r4, 0, %p1; bar.red.and.pred %p2, 0, %p1;"
           "bar.red.or.pred %p3, 0, %p1; selp.u32 %r5, 1000, 0, %p2; selp.u32 %r6, 2000, 0, %p3;"
           "add.u32 %r4, %r4, %r5; add.u32 %r4, %r4, %r6; st.global.u32 [%rd3], %r4;");
  k.run(128, 2);
  for (unsigned t = 0; t < 128; ++t) EXPECT_EQ(k.data[t], 2032u);
}

// Within a region, the first warp waits for a value that the last one writes. It keeps its stack, and the block's loop
// continues on another one. Both warps reach the next barrier.
TEST(Regions, AWarpMayWaitForAnotherWithinOne) {
  Kernel k(std::string(kAddress) +
           "mov.u32 %r20, memory; setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [%r20], 0; bar.sync 0;"
           "shr.u32 %r3, %r1, 5; setp.eq.u32 %p2, %r3, 0; @!%p2 bra other;\n"
           "again: ld.volatile.shared.u32 %r4, [%r20]; setp.eq.u32 %p3, %r4, 0; @%p3 bra again; bra.uni both;\n"
           "other: setp.eq.u32 %p4, %r3, 3; @%p4 st.volatile.shared.u32 [%r20], 17;\n"
           "both: bar.sync 0; ld.shared.u32 %r5, [%r20]; bar.sync 0; st.global.u32 [%rd3], %r5;");
  for (const unsigned blocks : {1u, 5u}) k.run(128, blocks);
  for (unsigned t = 0; t < 128; ++t) EXPECT_EQ(k.data[t], 17u);
}

// Lanes split from their warp wait on its stack; whole warps do not. Both meet at one barrier.
TEST(Regions, LanesApartMeetWholeWarps) {
  Kernel k(std::string(kAddress) +
           "mov.u32 %r20, memory; add.u32 %r21, %r20, %r2; setp.lt.u32 %p1, %r1, 16; @%p1 bra first;\n"
           "st.shared.u32 [%r21], 3; bar.sync 0; bra.uni both;\n"
           "first: st.shared.u32 [%r21], 4; bar.sync 0;\n"
           "both: bar.sync 0; sub.u32 %r5, 95, %r1; shl.b32 %r5, %r5, 2; add.u32 %r5, %r20, %r5;"
           "ld.shared.u32 %r6, [%r5]; bar.sync 0; st.global.u32 [%rd3], %r6;");
  k.run(96);
  for (unsigned t = 0; t < 96; ++t) EXPECT_EQ(k.data[t], t >= 80 ? 4u : 3u);
}

// One warp's fault ends the launch while others are in their frames. The next launch starts clean.
TEST(Regions, AFaultAmidTheBlock) {
  Kernel k(std::string(kAddress) +
           "ld.global.u32 %r3, [%rd3]; bar.sync 0; setp.eq.u32 %p1, %r1, 64; setp.ne.and.u32 %p1, %r3, 0, %p1;"
           "@%p1 trap; bar.sync 0; st.global.u32 [%rd3+4096], 5;");
  for (unsigned t = 0; t < 128; ++t) k.data[t] = 1;
  const LaunchResult stopped = k.try_run(128, 4);
  ASSERT_TRUE(stopped.fault);
  EXPECT_EQ(stopped.fault->kind, FaultKind::trap);
  for (unsigned t = 0; t < 128; ++t) k.data[t] = 0;
  k.run(128, 4);
  for (unsigned t = 0; t < 128; ++t) EXPECT_EQ(k.data[1024 + t], 5u);
}

TEST(Regions, ADeadlockNamesThoseThatWait) {
  Kernel k("setp.lt.u32 %p1, %r1, 32; @%p1 bra one; bar.sync 0; ret; one: bar.sync 1, 64; ret;");
  const LaunchResult r = k.try_run(96);
  ASSERT_TRUE(r.fault);
  EXPECT_EQ(r.fault->kind, FaultKind::barrier_mismatch);
  EXPECT_EQ(r.fault->warps.size(), 3u);
}

}  // namespace
}  // namespace warpgrind::device
