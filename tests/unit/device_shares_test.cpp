// Shares of a launch's blocks (device/block_share.h, execution/shares.h): the arithmetic, steals, faults, and blocks
// that wait for others.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "device/block_share.h"
#include "device/watchdog.h"
#include "ptx_kernel.h"

namespace warpgrind::device {
namespace {

TEST(BlockShare, FirstSharesAreEqualAndFollowEachOther) {
  for (const std::uint64_t blocks :
       {std::uint64_t{1}, std::uint64_t{7}, std::uint64_t{1000003}, BlockShare::kMostBlocks})
    for (unsigned workers = 1; workers <= std::min<std::uint64_t>(8, blocks); ++workers) {
      std::uint64_t next = 0;
      for (unsigned i = 0; i < workers; ++i) {
        const BlockRange share = BlockShare::first_share(blocks, workers, i);
        EXPECT_EQ(share.begin, next);
        EXPECT_GE(share.size(), blocks / workers);
        EXPECT_LE(share.size(), blocks / workers + 1);
        next = share.end;
      }
      EXPECT_EQ(next, blocks);
    }
}

void expect_range(BlockRange range, std::uint64_t begin, std::uint64_t end) {
  EXPECT_EQ(range.begin, begin);
  EXPECT_EQ(range.end, end);
}

TEST(BlockShare, OwnerTakesFromTheFrontAndOthersFromTheEnd) {
  BlockShare share;
  EXPECT_TRUE(share.take(4).empty());
  EXPECT_TRUE(share.steal().empty());
  share.set({10, 21});
  expect_range(share.take(4), 10, 14);
  expect_range(share.steal(), 17, 21);  // 4 of 7
  EXPECT_EQ(share.left(), 3u);
  expect_range(share.take(4), 14, 17);
  EXPECT_TRUE(share.take(4).empty());
  share.set({5, 6});
  expect_range(share.steal(), 5, 6);  // the last one
  EXPECT_TRUE(share.steal().empty());
}

TEST(BlockShare, HoldsTheLargestGrid) {
  BlockShare share;
  share.set({0, BlockShare::kMostBlocks});
  EXPECT_EQ(share.left(), BlockShare::kMostBlocks);
  expect_range(share.take(16), 0, 16);
  expect_range(share.steal(), BlockShare::kMostBlocks / 2 + 8, BlockShare::kMostBlocks);
}

// Each thread takes from its own share until all are empty, as workers do. Each block is taken once.
void take_all(std::uint64_t blocks, unsigned workers, std::uint64_t chunk) {
  std::vector<BlockShare> shares(workers);
  for (unsigned i = 0; i < workers; ++i) shares[i].set(BlockShare::first_share(blocks, workers, i));
  std::vector<std::atomic<std::uint8_t>> taken(blocks);
  const auto work = [&](unsigned self) {
    const auto note = [&](BlockRange range) {
      for (std::uint64_t b = range.begin; b < range.end; ++b) ++taken[b];
      if (self == 0) std::this_thread::yield();  // a slow worker, from which the others steal
    };
    for (bool more = true; more;) {
      for (BlockRange next; !(next = shares[self].take(chunk)).empty();) note(next);
      more = false;
      for (unsigned k = 1; k < workers && !more; ++k) {
        const BlockRange stolen = shares[(self + k) % workers].steal();
        if (stolen.empty()) continue;
        more = true;
        shares[self].set(stolen);
      }
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < workers; ++i) threads.emplace_back(work, i);
  work(0);
  for (std::thread& thread : threads) thread.join();
  for (std::uint64_t b = 0; b < blocks; ++b) ASSERT_EQ(taken[b], 1) << b << " of " << blocks;
}

TEST(BlockShare, EachBlockIsTakenOnce) {
  for (unsigned workers = 1; workers <= 8; ++workers)
    for (const std::uint64_t blocks : {1u, 2u, 5u, 63u, 1001u, 40009u})
      for (const std::uint64_t chunk : {1u, 16u}) take_all(blocks, workers, chunk);
}

// Adds one to the word of the block. %r6: the block; %rd3: the address of its word.
constexpr const char* kCount =
    "mov.u32 %r6, %ctaid.x; mul.wide.u32 %rd2, %r6, 4; add.u64 %rd3, %rd1, %rd2;\n"
    "setp.ne.u32 %p1, %r1, 0; @%p1 bra counted;\n"
    "ld.global.u32 %r7, [%rd3]; add.u32 %r7, %r7, 1; st.global.u32 [%rd3], %r7;\n"
    "counted:\n";
constexpr unsigned kWords = Kernel::kBytes / 4;

TEST(Shares, EachBlockRunsOnce) {
  for (const unsigned workers : {1u, 2u, 3u, 8u})
    for (const unsigned blocks : {1u, 2u, 3u, 9u, 601u, kWords}) {
      Kernel kernel(kCount, workers);
      std::fill_n(kernel.data, kWords, 0u);
      const LaunchResult result = kernel.run(32, blocks);
      EXPECT_EQ(result.counts.threads_launched, 32u * blocks);
      for (unsigned b = 0; b < kWords; ++b) ASSERT_EQ(kernel.data[b], b < blocks ? 1u : 0u) << b << " of " << blocks;
    }
}

// The second half has all the work: each of its blocks counts to 20,000.
TEST(Shares, AnUnevenGridHasTheSameCounts) {
  const std::string body = std::string(kCount) + R"(
    mov.u32 %r8, %nctaid.x; shl.b32 %r9, %r6, 1; setp.lt.u32 %p2, %r9, %r8; @%p2 bra done;
    mov.u32 %r10, 0;
  again:
    add.u32 %r10, %r10, 1; ld.global.u32 %r11, [%rd3];
    setp.lt.u32 %p3, %r10, 20000; @%p3 bra again;
  done:)";
  std::uint64_t executed = 0;
  for (const unsigned workers : {1u, 2u, 4u}) {
    Kernel kernel(body, workers);
    std::fill_n(kernel.data, kWords, 0u);
    const LaunchResult result = kernel.run(64, 400);
    for (unsigned b = 0; b < 400; ++b) ASSERT_EQ(kernel.data[b], 1u) << b;
    const std::uint64_t requests = counts_at(result, events::SiteKind::load)->requests;
    if (workers == 1) executed = requests;
    EXPECT_EQ(requests, executed) << workers;
  }
}

// Writes the word at `own` and waits for the one at `other`, without a sign of a wait: its load is plain.
std::string wait_for(const std::string& own, const std::string& other) {
  return "st.global.u32 [%rd1+" + own + "], 1;\nagain" + own + ":\nbar.sync 0; ld.global.u32 %r9, [%rd1+" + other +
         "]; setp.eq.u32 %p3, %r9, 0; @%p3 bra again" + own + ";\n";
}

// Of 8 blocks the second worker has 4 to 7. It waits in block 4 for block 6, which the first one must steal.
TEST(Shares, AnIdleWorkerStealsFromTheEnd) {
  Kernel kernel(
      "mov.u32 %r6, %ctaid.x; setp.ne.u32 %p1, %r6, 4; setp.ne.u32 %p2, %r6, 6;\n"
      "@%p1 bra other;\n" +
          wait_for("0", "4") + "other: @%p2 bra done;\n" + wait_for("4", "0") + "done:",
      2);
  kernel.data[0] = kernel.data[1] = 0;
  EXPECT_TRUE(kernel.run(32, 8).counts.work);  // no warp took turns: blocks have work of their own
}

// Block `first` and all later ones store to an address that is not theirs.
std::string faulty_from(unsigned first) {
  return fmt::format(
      "mov.u32 %r6, %ctaid.x; setp.lt.u32 %p1, %r6, {}; @%p1 bra fine; mov.u64 %rd3, 64; st.global.u32 [%rd3], %r6;\n"
      "fine:\n",
      first);
}

TEST(Shares, TheFaultIsThatOfTheLowestBlock) {
  for (const unsigned workers : {1u, 2u, 4u})
    for (const unsigned first : {0u, 1u, 40u, 1999u, 3999u}) {
      Kernel kernel(faulty_from(first), workers);
      const LaunchResult result = kernel.try_run(32, 4000);
      ASSERT_TRUE(result.fault);
      EXPECT_EQ(result.fault->kind, FaultKind::illegal_address);
      EXPECT_EQ(result.fault->block.x, first) << workers;
    }
}

// The same device runs on after a fault, and the windows of the faulty launch are closed.
TEST(Shares, ALaunchAfterAFault) {
  Kernel kernel("ld.global.u32 %r7, [%rd1]; setp.eq.u32 %p2, %r7, 0; @%p2 bra fine;\n" + faulty_from(7) +
                    "st.global.u32 [%rd1+4], %r7;\n",
                4);
  for (unsigned i = 0; i < 20; ++i) {
    kernel.data[0] = 1;
    const LaunchResult faulty = kernel.try_run(64, 1000);
    ASSERT_TRUE(faulty.fault);
    EXPECT_EQ(faulty.fault->block.x, 7u);
    kernel.data[0] = 0;
    EXPECT_EQ(kernel.run(64, 1000).counts.threads_launched, 64'000u);
  }
}

// Text of blocks after the faulty one is that of blocks which one worker would not have run.
TEST(Shares, TextEndsWithTheFaultyBlock) {
  const std::string body = R"(
    mov.u64 %rd4, text; cvta.global.u64 %rd4, %rd4; mov.u32 %r6, %ctaid.x;
    { .param .b64 format; .param .b64 arguments; .param .b32 result;
      st.param.b64 [format], %rd4; mov.u64 %rd6, 0; st.param.b64 [arguments], %rd6;
      call.uni (result), vprintf, (format, arguments); }
  )" + faulty_from(3);
  const std::string before =
      ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
      ".global .align 1 .b8 text[3] = {98, 10, 0};\n";
  for (const unsigned workers : {1u, 2u, 4u}) {
    Kernel kernel(body, workers, nullptr, before);
    testing::internal::CaptureStdout();
    EXPECT_TRUE(kernel.try_run(1, 64).fault);
    kernel.device->flush_output();
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "b\nb\nb\nb\n") << workers;
  }
}

// Block 2, the first of the second worker, has a fault. So block 3 does not run, for which block 0 waits, without a
// sign.
TEST(Shares, ABlockBeforeTheFaultyOneMayWaitForLaterOnes) {
  set_time_before_turns(std::chrono::milliseconds(100));
  Kernel kernel("mov.u32 %r6, %ctaid.x; setp.eq.u32 %p4, %r6, 0; @!%p4 bra later;\n" + wait_for("0", "4") +
                    "bra done; later: setp.ne.u32 %p5, %r6, 2; @%p5 bra done; mov.u64 %rd3, 64;\n"
                    "st.global.u32 [%rd3], %r6; st.global.u32 [%rd1+4], 1; done:",
                2);
  kernel.data[0] = kernel.data[1] = 0;
  const LaunchResult result = kernel.try_run(32, 4);
  set_time_before_turns(std::chrono::seconds(10));
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->kind, FaultKind::illegal_address);
  EXPECT_EQ(result.fault->block.x, 2u);
}

// Block 0 has a fault, and block 2 is in a loop without an end.
TEST(Shares, ABlockAfterTheFaultyOneMayHaveNoEnd) {
  set_time_before_turns(std::chrono::milliseconds(100));
  Kernel kernel(
      "mov.u32 %r6, %ctaid.x; setp.eq.u32 %p4, %r6, 0; @!%p4 bra later;\n"
      "mov.u64 %rd3, 64; st.global.u32 [%rd3], %r6;\n"
      "later: setp.ne.u32 %p5, %r6, 2; @%p5 bra done;\n" +
          wait_for("0", "4") + "done:",
      2);
  kernel.data[0] = kernel.data[1] = 0;
  const LaunchResult result = kernel.try_run(32, 4);
  set_time_before_turns(std::chrono::seconds(10));
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->kind, FaultKind::illegal_address);
  EXPECT_EQ(result.fault->block.x, 0u);
}

// Decoupled look-back: each block adds its number to the sum that its predecessor has published. `load` waits for it in
// %rd5, and 0 means that it is not there. More blocks than fit on the GPU.
void expect_sums(const std::string& load, const std::string& block = "mov.u32 %r6, %ctaid.x;", unsigned blocks = 8000) {
  const std::string body = block + R"(
      mul.wide.u32 %rd2, %r6, 8; add.u64 %rd3, %rd1, %rd2;
      setp.ne.u32 %p1, %r1, 0; @%p1 bra done;
      mov.u64 %rd5, 1;
      setp.eq.u32 %p2, %r6, 0; @%p2 bra first;
    again:
      )" + load + R"(
      setp.eq.u64 %p3, %rd5, 0; @%p3 bra again;
    first:
      cvt.u64.u32 %rd6, %r6; add.u64 %rd5, %rd5, %rd6;
      st.release.gpu.global.u64 [%rd3], %rd5;
    done:)";
  for (const unsigned workers : {1u, 2u, 4u}) {
    Kernel kernel(body, workers);
    std::fill_n(kernel.data, kWords, 0u);
    kernel.run(32, blocks);
    const auto* sums = reinterpret_cast<const std::uint64_t*>(kernel.data);
    for (std::uint64_t b = 0; b < blocks; ++b) ASSERT_EQ(sums[b], 1 + b * (b + 1) / 2) << b << ", " << workers;
  }
}

TEST(Shares, LookBackByVolatileLoads) {
  expect_sums("ld.volatile.global.u64 %rd5, [%rd3-8];");
}
TEST(Shares, LookBackByAcquireLoads) {
  expect_sums("ld.acquire.gpu.global.u64 %rd5, [%rd3-8];");
}
TEST(Shares, LookBackByAtomics) {
  expect_sums("atom.global.or.b64 %rd5, [%rd3-8], 0;");
}
// No sign of a wait: the second share waits until the first one is done.
TEST(Shares, LookBackByPlainLoads) {
  expect_sums("bar.warp.sync 1; ld.global.u64 %rd5, [%rd3-8];");
}
// Blocks take their numbers from a counter.
TEST(Shares, LookBackWithTickets) {
  const std::string ticket =
      "setp.ne.u32 %p1, %r1, 0; @%p1 bra done; atom.global.add.u32 %r6, [%rd1+65024], 1;";  // behind the sums
  expect_sums("ld.volatile.global.u64 %rd5, [%rd3-8];", ticket);
  // Each block waits for the worker of the last one, which may have no processor: not many of them.
  expect_sums("bar.warp.sync 1; ld.global.u64 %rd5, [%rd3-8];", ticket, 200);
}

}  // namespace
}  // namespace warpgrind::device
