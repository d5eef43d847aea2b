// Loops in which threads wait for words that later blocks, other warps or other lanes write. The word does not end the
// loop itself: it decides whether the iteration moves on (HeCBench's `bh`, SortKernel).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "device/schedule.h"
#include "device/watchdog.h"
#include "ptx_kernel.h"

namespace warpgrind::device {
namespace {

constexpr unsigned kWaiting = 64, kWaitingBlocks = 6, kAllWaiting = kWaiting * kWaitingBlocks;

LaunchResult run_a_chain(Kernel& kernel, unsigned words) {
  std::fill(kernel.data, kernel.data + words, ~0u);
  kernel.data[words] = 0;
  LaunchResult result = kernel.run(kWaiting, kWaitingBlocks);
  for (unsigned i = 0; i < words; ++i) EXPECT_EQ(kernel.data[i], words - i) << i;
  return result;
}

// Runs the kernel in each order and with one and two workers. Each of `words` words is one more than the next.
void expect_a_chain(const std::string& body, unsigned words) {
  for (const char* order : {"forward", "reverse", "interleaved", "random:1"})
    for (unsigned workers : {1u, 2u}) {
      SCOPED_TRACE(fmt::format("{}, {} workers", order, workers));
      Kernel kernel(body, workers);
      kernel.device->set_schedule(*read_schedule(order), false);
      run_a_chain(kernel, words);
    }
}

// %r5: threads of the grid; %r6: index of the thread in it.
constexpr const char* kOfGrid =
    "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %nctaid.x; mul.lo.u32 %r5, %r3, %r4;\n"
    "mad.lo.u32 %r6, %r2, %r3, %r1;\n";

// Each thread handles three words from the end of the array. It moves on once the word behind its own is written.
std::string sort_kernel(const std::string& each_time, const std::string& load = "ld.volatile.global.u32") {
  return kOfGrid + std::string(R"(
    mad.lo.u32 %r6, %r5, 2, %r6;
  again:
    mul.wide.s32 %rd2, %r6, 4;
    add.u64 %rd3, %rd1, %rd2;
    )") + load +
         R"( %r7, [%rd3+4];
    setp.lt.s32 %p1, %r7, 0;
    @%p1 bra wait;
    add.u32 %r8, %r7, 1;
    st.global.u32 [%rd3], %r8;
    sub.u32 %r6, %r6, %r5;
  wait:
    )" + each_time +
         "setp.ge.s32 %p2, %r6, 0; @%p2 bra again;";
}

TEST(WaitingLoops, ForLaterBlocks) {
  expect_a_chain(sort_kernel(""), 3 * kAllWaiting);
}

TEST(WaitingLoops, ForLaterBlocksWithABarrier) {
  expect_a_chain(sort_kernel("bar.sync 0;\n"), 3 * kAllWaiting);
}

// A fence says that the loop reads what others write, though its loads are plain.
TEST(WaitingLoops, ForLaterBlocksWithAFence) {
  expect_a_chain(sort_kernel("membar.gl;\n", "ld.global.u32"), 3 * kAllWaiting);
}

// One thread of each block waits, and the others read from shared memory what it has seen.
TEST(WaitingLoops, ThroughSharedMemory) {
  for (unsigned workers : {1u, 2u}) {
    Kernel kernel(kOfGrid + std::string(R"(
      mov.u32 %r6, %ctaid.x;
      mul.wide.u32 %rd2, %r6, 4;
      add.u64 %rd3, %rd1, %rd2;
      setp.ne.u32 %p1, %r1, 0;
    again:
      @%p1 bra others;
      ld.volatile.global.u32 %r7, [%rd3+4];
      st.shared.u32 [memory], %r7;
    others:
      bar.sync 0;
      ld.shared.u32 %r8, [memory];
      bar.sync 0;
      setp.lt.s32 %p2, %r8, 0;
      @%p2 bra again;
      add.u32 %r8, %r8, 1;
      st.global.u32 [%rd3], %r8;)"),
                  workers);
    run_a_chain(kernel, kWaitingBlocks);
  }
}

// More blocks than fit on the GPU, and each waits for the next one, which would be resident with it.
TEST(WaitingLoops, ForTheNextBlockOfALargeGrid) {
  constexpr unsigned kMany = 4400;
  for (unsigned workers : {1u, 2u}) {
    Kernel kernel(R"(
      mov.u32 %r6, %ctaid.x;
      mul.wide.u32 %rd2, %r6, 4;
      add.u64 %rd3, %rd1, %rd2;
      mov.u32 %r7, 1;
      and.b32 %r8, %r6, 1;
      setp.ne.u32 %p1, %r8, 0;
      @%p1 bra odd;
    again:
      ld.volatile.global.u32 %r7, [%rd3+4];
      setp.eq.u32 %p2, %r7, 0;
      @%p2 bra again;
      add.u32 %r7, %r7, 1;
    odd:
      st.global.u32 [%rd3], %r7;)",
                  workers);
    std::fill(kernel.data, kernel.data + kMany, 0u);
    kernel.run(32, kMany);
    for (unsigned i = 0; i < kMany; ++i) ASSERT_EQ(kernel.data[i], 2 - i % 2) << i;
  }
}

// No sign that this loop waits: the watchdog lets the blocks take turns.
TEST(WaitingLoops, ByPlainLoadsAlone) {
  set_time_before_turns(std::chrono::milliseconds(100));
  for (unsigned workers : {1u, 2u}) {  // two have shares
    Kernel kernel(sort_kernel("bar.sync 0;\n", "ld.global.u32"), workers);
    std::fill(kernel.data, kernel.data + 3 * kAllWaiting + 1, 0u);
    EXPECT_TRUE(kernel.run(kWaiting, kWaitingBlocks).counts.work);  // nothing waits
    Kernel again(sort_kernel("bar.sync 0;\n", "ld.global.u32"), workers);
    EXPECT_FALSE(run_a_chain(again, 3 * kAllWaiting).counts.work);  // blocks in turns have no work of their own
  }
  set_time_before_turns(std::chrono::seconds(10));
}

// Lanes write their words behind the loop, where the rest of their warp still waits.
TEST(WaitingLoops, ForLanesThatHaveLeftTheLoop) {
  expect_a_chain(kOfGrid + std::string(R"(
    mul.wide.u32 %rd2, %r6, 4;
    add.u64 %rd3, %rd1, %rd2;
  again:
    ld.volatile.global.u32 %r7, [%rd3+4];
    setp.lt.s32 %p1, %r7, 0;
    @%p1 bra wait;
    sub.u32 %r6, %r6, %r5;
  wait:
    setp.ge.s32 %p2, %r6, 0;
    @%p2 bra again;
    add.u32 %r8, %r7, 1;
    st.global.u32 [%rd3], %r8;)"),
                 kAllWaiting);
}

}  // namespace
}  // namespace warpgrind::device
