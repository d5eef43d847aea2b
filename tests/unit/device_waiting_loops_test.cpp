// Loops in which threads wait for words that later blocks, other warps or other lanes write. The word does not end the
// loop itself: it decides whether the iteration moves on (HeCBench's `bh`, SortKernel).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "device/schedule.h"
#include "ptx_kernel.h"

namespace warpgrind::device {
namespace {

constexpr unsigned kWaiting = 64, kWaitingBlocks = 6, kAllWaiting = kWaiting * kWaitingBlocks;

// Runs the kernel in each order and with one and two workers. Each of `words` words is one more than the next.
void expect_a_chain(const std::string& body, unsigned words) {
  for (const char* order : {"forward", "reverse", "interleaved", "random:1"})
    for (unsigned workers : {1u, 2u}) {
      SCOPED_TRACE(fmt::format("{}, {} workers", order, workers));
      Kernel kernel(body, workers);
      kernel.device->set_schedule(*read_schedule(order), false);
      std::fill(kernel.data, kernel.data + words, ~0u);
      kernel.data[words] = 0;
      kernel.run(kWaiting, kWaitingBlocks);
      for (unsigned i = 0; i < words; ++i) ASSERT_EQ(kernel.data[i], words - i) << i;
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
    )") + load + R"( %r7, [%rd3+4];
    setp.lt.s32 %p1, %r7, 0;
    @%p1 bra wait;
    add.u32 %r8, %r7, 1;
    st.global.u32 [%rd3], %r8;
    sub.u32 %r6, %r6, %r5;
  wait:
    )" + each_time + "setp.ge.s32 %p2, %r6, 0; @%p2 bra again;";
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
