// Barriers of a block with a count (bar.sync a, b), and threads that leave the kernel. The expected results are those
// of an H100 (driver 580).
#include <string>

#include "ptx_kernel.h"

namespace warpgrind::device {
namespace {

// %r3: the warp; %r2: the lane; %rd3: the thread's word; %r20: shared memory. The arguments are the code of warps 0 to
// 2.
Kernel by_warp(const std::string& first, const std::string& second, const std::string& third = "") {
  return Kernel(
      "and.b32 %r2, %r1, 31; shr.u32 %r3, %r1, 5; shl.b32 %r4, %r1, 2; cvt.u64.u32 %rd2, %r4;"
      "add.u64 %rd3, %rd1, %rd2; mov.u32 %r20, memory; setp.lt.u32 %p1, %r2, 16;\n"
      "setp.eq.u32 %p2, %r3, 1; @%p2 bra W1; setp.eq.u32 %p2, %r3, 2; @%p2 bra W2;\n" +
      first + "\nret;\nW1: " + second + "\nret;\nW2: " + third);
}

const std::string kRead = "ld.shared.u32 %r5, [%r20]; st.global.u32 [%rd3], %r5;\n";

void expect_read(const Kernel& k, std::uint32_t value) {
  for (unsigned t = 32; t < 64; ++t) EXPECT_EQ(k.data[t], value) << t;
}

void expect_fault(Kernel k, unsigned threads, FaultKind kind, const std::string& text) {
  const LaunchResult r = k.try_run(threads);
  ASSERT_TRUE(r.fault);
  EXPECT_EQ(r.fault->kind, kind);
  EXPECT_NE(r.fault->message.find(text), std::string::npos) << r.fault->message;
}

TEST(BarrierCounts, AWarpArrivesAndLeaves) {
  Kernel k = by_warp("bar.arrive 1, 96;", "bar.sync 1, 96;" + kRead, "st.shared.u32 [%r20], 17; bar.sync 1, 96;");
  k.run(96);
  expect_read(k, 17);
  Kernel both = by_warp("bar.arrive 1, 96;", "bar.sync 1, 96;" + kRead, "st.shared.u32 [%r20], 18; bar.arrive 1, 96;");
  both.run(96, 3);
  expect_read(both, 18);
}

TEST(BarrierCounts, TheBarrierIsUsedAgain) {
  Kernel k = by_warp("bar.arrive 1, 64;", "bar.sync 1, 64; bar.arrive 2, 64; bar.sync 1, 64;" + kRead,
                     "bar.sync 2, 64; st.shared.u32 [%r20], 9; bar.arrive 1, 64;");
  k.run(96, 2);
  expect_read(k, 9);
}

// A warp has arrived when all of its remaining lanes have.
TEST(BarrierCounts, LanesLeaveInsteadOfArriving) {
  by_warp("@%p1 barrier.arrive 1, 64;", "barrier.sync 1, 64;").run(64);
  by_warp("@%p1 ret; barrier.sync 1, 64;", "barrier.sync 1, 64;").run(64);
  by_warp("@%p1 bra WAIT; ret;\nWAIT: barrier.sync 1, 64;", "barrier.sync 1, 64;").run(64);
}

TEST(BarrierCounts, LanesArriveApart) {
  Kernel k =
      by_warp("@%p1 bra EARLY; st.shared.u32 [%r20], 5; barrier.arrive 1, 64; ret;\nEARLY: barrier.arrive 1, 64;",
              "barrier.sync 1, 64;" + kRead);
  k.run(64);
  expect_read(k, 5);
  // Lanes that arrive twice do not count as a whole warp while other lanes of it have not left.
  Kernel twice =
      by_warp("@%p1 bra EARLY; st.shared.u32 [%r20], 6; ret;\nEARLY: barrier.arrive 1, 64; barrier.arrive 1, 64;",
              "barrier.sync 1, 64;" + kRead);
  twice.run(64);
  expect_read(twice, 6);
}

TEST(BarrierCounts, AreNotMetByThreadsThatHaveLeft) {
  const char* const few = "barrier 1 waits for 96 threads, and 64 have arrived";
  expect_fault(by_warp("", "bar.sync 1, 96;", "bar.sync 1, 96;"), 96, FaultKind::deadlock, few);
  expect_fault(by_warp("", "bar.sync 1, 96;", "bar.arrive 1, 96;"), 96, FaultKind::deadlock, "and 64 have arrived");
  expect_fault(by_warp("bar.arrive 1, 128;", "bar.sync 1, 128;", "bar.sync 1, 128;"), 96, FaultKind::deadlock,
               "barrier 1 waits for 128 threads, and 96 have arrived (the block has 96)");
}

TEST(BarrierCounts, WithoutOneThoseThatLeftAreNotWaitedFor) {
  Kernel k = by_warp("", "bar.sync 1;" + kRead, "st.shared.u32 [%r20], 4; bar.sync 1;");
  k.run(96);
  expect_read(k, 4);
  by_warp("@%p1 ret; bar.sync 0;", "bar.sync 0; @%p1 ret; bar.sync 0;").run(64);
}

TEST(BarrierCounts, OthersAtTheSameBarrierAreAnError) {
  const auto is_refused = [](const std::string& first, const std::string& second, const std::string& third = "") {
    SCOPED_TRACE(first + second + third);
    expect_fault(by_warp(first, second, third), 96, FaultKind::barrier_count,
                 "where other threads have already arrived");
  };
  is_refused("bar.sync 0, 96;", "bar.sync 0;", "bar.sync 0;");
  is_refused("bar.sync 1, 64;", "bar.sync 1, 96;", "bar.sync 1, 96;");
  is_refused("bar.arrive 1, 64;", "bar.sync 1, 32;");
  is_refused("bar.arrive 1, 64;", "bar.sync 1;", "bar.sync 1;");
  // Arriving one after the other is not an error.
  by_warp("bar.sync 1, 64; bar.sync 1;", "bar.sync 1, 64; bar.sync 1;").run(64);
}

// The cluster's barrier waits for all threads that have not left. An arrival of a thread that left replaces no other.
TEST(ClusterBarrier, AWarpArrivesAndLeaves) {
  const std::string wait = "barrier.cluster.arrive; barrier.cluster.wait;\n";
  Kernel k = by_warp("barrier.cluster.arrive;", wait + kRead, "st.shared.u32 [%r20], 21;" + wait);
  k.run(96, 2);
  expect_read(k, 21);
  Kernel in_parts = by_warp("@%p1 bra ARRIVE; ret;\nARRIVE: barrier.cluster.arrive; ret;", wait + kRead,
                            "st.shared.u32 [%r20], 22;" + wait);
  in_parts.run(96);
  expect_read(in_parts, 22);
}

// State that an aborted launch leaves does not count in the next one.
TEST(BarrierCounts, AFaultAfterAnArrival) {
  Kernel k = by_warp("@%p1 barrier.arrive 1, 64; bar.sync 0;",
                     "ld.global.u32 %r6, [%rd1]; setp.ne.u32 %p3, %r6, 0;"
                     "@%p3 trap; bar.sync 0; barrier.arrive 1, 64;");
  k.data[0] = 1;
  const LaunchResult r = k.try_run(64);
  ASSERT_TRUE(r.fault);
  EXPECT_EQ(r.fault->kind, FaultKind::trap);
  k.data[0] = 0;
  k.run(64, 2);
}

}  // namespace
}  // namespace warpgrind::device
