// Warps as on Volta and later: lanes of one mask meet from any path, barriers count threads, and every lane that can
// continue does so in the end.
#include <sstream>
#include <vector>

#include "device_fixture.h"
#include "ptx_kernel.h"

namespace warpgrind::device {
namespace {

Gpu warps_gpu(unsigned workers = 1) {
  return Gpu(workers, 600, "warps.ptx");
}

void expect_clean(const LaunchResult& r) {
  ASSERT_FALSE(r.fault) << r.fault->message;
  for (const Fault& w : r.warnings) ADD_FAILURE() << w.message;
}

// The results of an H200, each case twice.
TEST(Warps, ShufflesAndVotesAsOnAnH200) {
  std::istringstream recorded(read_file(WARPGRIND_TESTS "/data/h200/shuffles.csv"));
  unsigned lines = 0;
  Gpu gpu = warps_gpu();
  int *out = gpu.array<int>(32), *zeros = gpu.array<int>(100);
  std::fill(zeros, zeros + 100, 0);
  for (std::string line; std::getline(recorded, line); ++lines) {
    std::istringstream fields(line);
    std::string field;
    std::getline(fields, field, ',');
    const int which = std::stoi(field);
    std::getline(fields, field, ',');
    EXPECT_EQ(field, "");  // no error
    std::fill(out, out + 32, -7777);
    const LaunchResult r = gpu.run("probe", shape({1, 1, 1}, {32, 1, 1}), which, out, zeros);
    ASSERT_FALSE(r.fault) << which << ": " << r.fault->message;
    for (int l = 0; l < 32; ++l) {
      ASSERT_TRUE(std::getline(fields, field, ','));
      EXPECT_EQ(out[l], field == "x" ? -7777 : std::stoi(field)) << "case " << which << ", lane " << l;
    }
    // Cases 0 to 3, 5 and 6 read lanes that do not participate.
    const bool absent = which < 4 || which == 5 || which == 6;
    EXPECT_EQ(r.warnings.empty(), !absent) << "case " << which;
    if (absent && !r.warnings.empty()) {
      EXPECT_EQ(r.warnings[0].kind, FaultKind::absent_lanes);
    }
  }
  EXPECT_EQ(lines, 30u);
}

TEST(Warps, CompareAndSwapLoopThenBarrier) {
  for (unsigned workers : {1u, 2u})
    for (unsigned threads : {32u, 48u, 256u, 1024u}) {
      Gpu gpu = warps_gpu(workers);
      auto* out = gpu.array<unsigned>(4);
      expect_clean(gpu.run("count_by_cas", shape({4, 1, 1}, {threads, 1, 1}), out));
      for (int b = 0; b < 4; ++b) EXPECT_EQ(out[b], threads);
    }
}

TEST(Warps, DoublesAddedByCompareAndSwap) {
  Gpu gpu = warps_gpu();
  double *sum = gpu.array<double>(1), *seen = gpu.array<double>(256);
  *sum = 0;
  expect_clean(gpu.run("sum_by_cas", shape({1, 1, 1}, {256, 1, 1}), sum, seen));
  for (int t = 0; t < 256; ++t) ASSERT_EQ(seen[t], 256 * 257 / 2) << t;
}

TEST(Warps, VotesOfTiles) {
  Gpu gpu = warps_gpu();
  auto* out = gpu.array<unsigned>(96);
  expect_clean(gpu.run("tile_votes", shape({1, 1, 1}, {32, 1, 1}), out));
  for (unsigned l = 0; l < 32; ++l) {
    EXPECT_EQ(out[l], l < 16 ? 0u : 0xffu) << l;
    EXPECT_EQ(out[32 + l], l < 16 ? 0u : 3u) << l;
    const unsigned tile = l / 8 * 8;
    EXPECT_EQ(out[64 + l], tile + 3 + 100 * (8 * tile + 28)) << l;
  }
}

TEST(Warps, SidesOfABranchMeetAtABarrier) {
  for (int threads : {32, 256, 200}) {
    Gpu gpu = warps_gpu();
    int* out = gpu.array<int>(3 * static_cast<std::size_t>(threads));
    expect_clean(gpu.run("split_barrier", shape({3, 1, 1}, {static_cast<unsigned>(threads), 1, 1}), out));
    for (int k = 0; k < 3 * threads; ++k) {
      const int t = k % threads, from = (t + 1) % threads;
      int r = 0, sum = t;
      for (int i = 0; i < 3; ++i) {
        r = r * (t % 3 == 0 ? 3 : 5) + from + i * (from % 3 == 0 ? 2 : 7);
        sum += r;
      }
      ASSERT_EQ(out[k], t % 3 == 0 ? r : sum) << threads << " threads, thread " << k;
    }
  }
}

TEST(Warps, BarriersCountThreadsThatAreLeft) {
  Gpu gpu = warps_gpu();
  constexpr int kThreads = 128;
  int* out = gpu.array<int>(kThreads * 64);
  std::fill(out, out + kThreads * 64, -1);
  expect_clean(gpu.run("ragged_barriers", shape({1, 1, 1}, {kThreads, 1, 1}), out));
  for (int t = 0; t < kThreads; ++t)
    for (int i = 0; i < 64; ++i) {
      // Two threads of every number up to 63 pass barrier i if their number is larger than i.
      ASSERT_EQ(out[t * 64 + i], i < t % 64 ? 2 * (63 - i) : -1) << "thread " << t << ", barrier " << i;
    }
}

TEST(Warps, LanesMeetAcrossTheEndOfABranch) {
  Gpu gpu = warps_gpu();
  int* out = gpu.array<int>(64);
  expect_clean(gpu.run("meet_later", shape({1, 1, 1}, {32, 1, 1}), out));
  for (int l = 0; l < 32; ++l) {
    const int first = l * 10 + (l < 16 ? (l + 16) + 7 : 0);
    EXPECT_EQ(out[32 + l], first) << l;
    EXPECT_EQ(out[l], first + (l >= 16 ? 1000 * (l - 16) : 0)) << l;
  }
}

TEST(Warps, LanesHandOverInsideAWarp) {
  Gpu gpu = warps_gpu();
  constexpr int kTurns = 20;
  int *flag = gpu.array<int>(32), *box = gpu.array<int>(32), *out = gpu.array<int>(64);
  std::fill(flag, flag + 32, 0);
  expect_clean(gpu.run("hand_over", shape({1, 1, 1}, {64, 1, 1}), flag, box, out, kTurns));
  for (int t = 0; t < 64; ++t) {
    int sum = 0;
    for (int i = 1; i <= kTurns; ++i) sum += i * i + t / 2 * 2;
    EXPECT_EQ(out[t], sum) << t;
  }
}

TEST(Warps, LanesThatWaitKeepTheirRegisters) {
  Gpu gpu = warps_gpu();
  constexpr int kTurns = 9;
  int *in = gpu.array<int>(32 * (kTurns + 1)), *out = gpu.array<int>(32);
  for (int k = 0; k < 32 * (kTurns + 1); ++k) in[k] = k * 37 % 101;
  expect_clean(gpu.run("own_registers", shape({1, 1, 1}, {32, 1, 1}), in, out, kTurns));
  int sum[32] = {};
  for (int turn = 0; turn < kTurns; ++turn) {
    const int i = turn, j = kTurns - turn;
    int before[32];
    for (int t = 0; t < 32; ++t) {
      if (t < 16)
        sum[t] += in[i * 32 + t] * (i + 1);
      else
        sum[t] ^= in[j * 16 + t] + j;
      before[t] = sum[t];
    }
    for (int t = 0; t < 32; ++t) sum[t] += before[t ^ 16];
  }
  for (int t = 0; t < 32; ++t) EXPECT_EQ(out[t], sum[t]) << t;
}

TEST(Warps, ReadsRightAfterABarrierComeFirst) {
  Gpu gpu = warps_gpu();
  constexpr int kThreads = 256;
  int* out = gpu.array<int>(kThreads);
  expect_clean(gpu.run("sums", shape({1, 1, 1}, {kThreads, 1, 1}), out));
  int r[kThreads];
  for (int t = 0; t < kThreads; ++t) r[t] = t;
  for (int i = 0; i < 5; ++i) {
    int sum = 0;
    for (int t = 0; t < kThreads; ++t) sum += r[t];
    for (int t = 0; t < kThreads; ++t) r[t] = (sum + i * t) % 1009;
  }
  for (int t = 0; t < kThreads; ++t) ASSERT_EQ(out[t], r[t]) << t;
}

TEST(Warps, SpinLockThenBarrierThenVote) {
  for (unsigned workers : {1u, 2u}) {
    Gpu gpu = warps_gpu(workers);
    int *words = gpu.array<int>(2), *out = gpu.array<int>(256);
    words[0] = words[1] = 0;
    expect_clean(gpu.run("lock_then_barrier", shape({2, 1, 1}, {128, 1, 1}), words, words + 1, out));
    EXPECT_EQ(words[1], 256);
    for (int t = 0; t < 256; ++t) EXPECT_EQ(out[t], -1);
  }
}

// A spin lock of three warps in a block of eight: the warp whose lane holds it gets its turn, too. A test of NVIDIA
// Warp did not end: every ninth turn let other lanes run, so always those of one warp.
TEST(Warps, SpinLockOfThreeWarps) {
  Kernel k(R"(
    setp.ge.u32 %p1, %r1, 96;
    @%p1 bra done;
  again:
    atom.global.cas.b32 %r3, [%rd1+4], 0, 1;
    setp.ne.u32 %p2, %r3, 0;
    @%p2 bra again;
    atom.global.exch.b32 %r4, [%rd1], 0;
    add.u32 %r4, %r4, 1;
    st.global.u32 [%rd1], %r4;
    atom.global.exch.b32 %r5, [%rd1+4], 0;
  done:)");
  k.data[0] = k.data[1] = 0;
  k.run(256);
  EXPECT_EQ(k.data[0], 96u);
}

// Lanes that take entries of a queue: each begins at a hint, which those that took one increase. A warp does not let
// others run within its scan: they would all begin at the old hint.
TEST(Warps, ScanOfAQueueIsNotInterrupted) {
  Kernel k(R"(
    mov.u32 %r8, 0;
    ld.global.u32 %r2, [%rd1];
  scan:
    add.u32 %r8, %r8, 1;
    mul.wide.u32 %rd2, %r2, 4;
    add.u64 %rd3, %rd1, %rd2;
    ld.global.u32 %r4, [%rd3+8];
  look:
    mov.u32 %r3, %r4;
    atom.global.cas.b32 %r4, [%rd3+8], %r3, %r3;
    setp.ne.u32 %p1, %r3, %r4;
    @%p1 bra look;
    setp.eq.u32 %p2, %r3, 1;
    @%p2 bra next;
    atom.global.cas.b32 %r5, [%rd3+8], 0, 1;
    setp.eq.u32 %p3, %r5, 0;
    @%p3 bra taken;
  next:
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p4, %r2, 256;
    @%p4 bra scan;
    bra.uni end;
  taken:
    red.global.add.u32 [%rd1], 1;
  end:
    red.global.add.u32 [%rd1+4], %r8;)");
  std::fill(k.data, k.data + 258, 0u);
  k.run(256);
  EXPECT_EQ(k.data[0], 256u);
  EXPECT_EQ(k.data[1], 8 * 32 * 33 / 2u);  // entries looked at: 1 to 32 per lane
}

TEST(Warps, LanesAtTheEndAreNotWaitedFor) {
  Gpu gpu = warps_gpu();
  int* out = gpu.array<int>(300);
  expect_clean(gpu.run("some_leave", shape({3, 1, 1}, {128, 1, 1}), out, 300));
  for (int i = 0; i < 300; ++i) EXPECT_EQ(out[i], i / 128 * 128 + i % 128 / 2 + i / 32 * 32 + (i & 16)) << i;
}

TEST(Warps, LanesThatNeverMeetAreADeadlockThatSaysWhere) {
  Gpu gpu = warps_gpu();
  int* out = gpu.array<int>(32);
  const LaunchResult r = gpu.run("never_met", shape({1, 1, 1}, {32, 1, 1}), out);
  ASSERT_TRUE(r.fault);
  ASSERT_EQ(r.fault->warps.size(), 2u);
  EXPECT_NE(r.fault->warps[0].find("lanes 0x0000ffff waits for the lanes of its member mask"), std::string::npos)
      << r.fault->warps[0];
  EXPECT_NE(r.fault->warps[1].find("lanes 0xffff0000 waits at a barrier in never_met"), std::string::npos)
      << r.fault->warps[1];
}

TEST(Warps, ReductionsOfTwoSides) {
  Gpu gpu = warps_gpu();
  int* out = gpu.array<int>(32);
  expect_clean(gpu.run("met_reductions", shape({1, 1, 1}, {32, 1, 1}), out));
  for (int t = 0; t < 32; ++t) {
    int most = 0, count = 0;
    unsigned same = 0;
    for (int u = 0; u < 32; ++u) {
      most = std::max(most, u % 2 ? u * 3 : u * 4);
      count += u % 2 ? u > 10 : u > 20;
      if ((u % 2 ? u / 4 : u / 8) == (t % 2 ? t / 4 : t / 8)) same |= 1u << u;
    }
    const int want = t % 2 ? most + 1000 * count + static_cast<int>(same & 0xf)
                           : 7 * most + 2000 * count + static_cast<int>(same & 0xf0);
    EXPECT_EQ(out[t], want) << t;
  }
}

// Lanes whose guard is false go on to the point where the others need them.
TEST(Warps, GuardedOperationsWait) {
  Kernel votes(
      "mov.u32 %r2, %laneid; setp.lt.u32 %p1, %r2, 16; setp.ne.u32 %p2, %r2, 3; mov.u32 %r3, 0;\n"
      "@%p1 vote.sync.ballot.b32 %r3, %p2, -1;\n@!%p1 vote.sync.ballot.b32 %r3, %p2, -1;\n"
      "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd2, %rd1; st.global.u32 [%rd2], %r3;");
  expect_clean(votes.run(64));
  for (unsigned t = 0; t < 64; ++t) EXPECT_EQ(votes.data[t], 0xfffffff7u) << t;
  Kernel barriers(
      "setp.lt.u32 %p1, %r1, 40; and.b32 %r2, %r1, 1; setp.eq.u32 %p2, %r2, 0; mov.u32 %r3, 0;\n"
      "@%p1 barrier.red.popc.u32 %r3, 0, %p2;\n@!%p1 barrier.red.popc.u32 %r3, 0, %p1;\n"
      "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd2, %rd1; st.global.u32 [%rd2], %r3;");
  expect_clean(barriers.run(64));
  for (unsigned t = 0; t < 64; ++t) EXPECT_EQ(barriers.data[t], 20u) << t;
}

TEST(Warps, LanesOutsideAFunctionCannotBeMet) {
  Gpu gpu = warps_gpu();
  int* out = gpu.array<int>(32);
  const LaunchResult r = gpu.run("apart_in_a_function", shape({1, 1, 1}, {32, 1, 1}), out);
  ASSERT_FALSE(r.fault) << r.fault->message;
  ASSERT_EQ(r.warnings.size(), 1u);
  EXPECT_EQ(r.warnings[0].kind, FaultKind::warp_mismatch);
  for (int t = 0; t < 32; ++t) EXPECT_EQ(out[t], t < 16 ? t ^ 1 : -1);
}

}  // namespace
}  // namespace warpgrind::device
