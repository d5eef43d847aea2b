// The device's log of accesses for the modelled caches.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "device/access/log_parts.h"
#include "device/memory/address_space.h"
#include "device_fixture.h"
#include "events/access_log.h"
#include "ptx_kernel.h"

namespace warpgrind::device {
namespace {

// Runs vadd of n elements in blocks of 256, or gather with an index that goes backwards.
struct Logging {
  explicit Logging(unsigned workers, bool caches = true) : gpu(workers, 0, "kernels.ptx", nullptr, caches) {}
  LaunchResult vadd(int n) { return vadd_if(n, true); }
  LaunchResult vadd_if(int n, bool counted) {
    if (!a) a = gpu.array<float>(kMost), b = gpu.array<float>(kMost), c = gpu.array<float>(kMost);
    LaunchConfig config = shape({static_cast<std::uint32_t>(n + 255) / 256, 1, 1}, {256, 1, 1});
    config.counted = counted;
    config.log_part = part;
    return gpu.run("vadd", config, a, b, c, n);
  }
  LaunchResult gather(int n) {
    if (!a) a = gpu.array<float>(kMost), c = gpu.array<float>(kMost);
    if (!index) {
      index = gpu.array<int>(kMost);
      for (int i = 0; i < n; ++i) index[i] = n - 1 - i * 7 % n;
    }
    return gpu.run("gather", shape({static_cast<std::uint32_t>(n) / 128, 1, 1}, {128, 1, 1}), a, index, c, n);
  }
  static constexpr std::size_t kMost = 1 << 20;
  Gpu gpu;
  std::uint32_t part = 1;
  float *a = nullptr, *b = nullptr, *c = nullptr;
  int* index = nullptr;
};

// All values in a log that do not depend on the addresses of the arrays.
std::vector<std::uint64_t> said(const events::AccessLog& log) {
  std::vector<std::uint64_t> out;
  for (const events::BlockLog& b : log.blocks) {
    out.insert(out.end(), {b.block, b.accesses.size(), b.left_out, b.beside});
    for (const events::LoggedAccess& e : b.accesses)
      out.insert(out.end(), {e.base - log.ranges[e.site].first, static_cast<std::uint64_t>(e.lanes ? 0 : e.kx), e.mask,
                             e.site, e.warp, static_cast<std::uint64_t>(e.type)});
    out.insert(out.end(), b.offsets.begin(), b.offsets.end());
  }
  return out;
}

TEST(AccessLog, SmallLaunchesAsAWhole) {
  Logging run(1);
  const LaunchResult r = run.vadd(1000);
  ASSERT_TRUE(r.counts.log);
  ASSERT_EQ(r.counts.log->blocks.size(), 4u);
  for (const events::BlockLog& b : r.counts.log->blocks) EXPECT_EQ(b.accesses.size(), 8u * 3);
  EXPECT_EQ(r.counts.log->blocks[3].accesses.back().type, AccessType::store);
  EXPECT_FALSE(Logging(1, false).vadd(1000).counts.log);
}

// A launch takes no value from the last one on its engine.
TEST(AccessLog, NotOfUncountedLaunches) {
  Logging run(1);
  EXPECT_TRUE(run.vadd_if(1000, true).counts.log);
  EXPECT_FALSE(run.vadd_if(1000, false).counts.log);
}

TEST(AccessLog, LaterLaunchesLogLess) {
  Logging run(1);
  std::vector<std::uint64_t> requests;
  std::uint64_t exact = 0;
  for (const std::uint32_t part : {1u, 4u, 8u}) {
    run.part = part;
    const LaunchResult r = run.vadd(static_cast<int>(Logging::kMost - part));  // none repeats another
    ASSERT_TRUE(r.counts.log);
    std::uint64_t logged = 0;
    for (const events::BlockLog& b : r.counts.log->blocks) logged += b.accesses.size();
    requests.push_back(logged);
    if (exact == 0) exact = total(r, events::SiteKind::load).requests;
    EXPECT_EQ(total(r, events::SiteKind::load).requests, exact);
  }
  EXPECT_LE(requests[0], 12288u);
  EXPECT_GT(requests[0], 12288u / 2);
  EXPECT_LT(requests[1], requests[0] / 3);
  EXPECT_LT(requests[2], requests[1]);
}

// Launches with new arguments and launches that repeat arguments are counted by themselves; kernels, too.
TEST(LogParts, FollowFromTheLaunchesBefore) {
  LogParts parts;
  const LaunchConfig config = shape({1, 1, 1}, {32, 1, 1});
  const auto part = [&](const char* kernel, std::uint64_t argument) {
    PackedParameters parameters;
    parameters.bytes.resize(12);
    std::memcpy(parameters.bytes.data() + 4, &argument, sizeof argument);
    return parts.part_of(kernel, 0, config, parameters);
  };
  constexpr std::uint64_t kQuarterAt = LogParts::kInFull, kEighthAt = kQuarterAt + LogParts::kQuarter;
  for (std::uint64_t n = 0; n < 2 * kEighthAt; ++n) {
    const std::uint32_t expected = n < kQuarterAt ? 1 : n < kEighthAt ? 4 : 8;
    EXPECT_EQ(part("first", n), expected) << n;
    if (n > 0) EXPECT_EQ(part("second", 7), n <= kQuarterAt ? 1u : n <= kEighthAt ? 4u : 8u) << n;
    if (n == 0) EXPECT_EQ(part("second", 7), 1u);
  }
  EXPECT_EQ(part("second", 8), 1u);
  EXPECT_EQ(part("third", 0), 1u);
}

// The inline caches are empty while a block is logged. The counts must not change.
TEST(AccessLog, CountsStayAsTheyAre) {
  for (const auto kernel : {&Logging::vadd, &Logging::gather}) {
    Logging with(1), without(1, false);
    const LaunchResult a = (with.*kernel)(1 << 16), b = (without.*kernel)(1 << 16);
    for (const events::SiteKind kind : {events::SiteKind::load, events::SiteKind::store}) {
      EXPECT_EQ(total(a, kind).requests, total(b, kind).requests);
      EXPECT_EQ(total(a, kind).global.sectors, total(b, kind).global.sectors);
      EXPECT_EQ(total(a, kind).lanes, total(b, kind).lanes);
    }
  }
}

TEST(AccessLog, TheSameForAnyNumberOfWorkers) {
  for (const auto kernel : {&Logging::vadd, &Logging::gather}) {
    Logging one(1);
    const LaunchResult first = (one.*kernel)(1 << 20);
    ASSERT_TRUE(first.counts.log);
    const std::size_t blocks = first.counts.log->blocks.size();
    EXPECT_GT(blocks, 8u);
    EXPECT_LT(blocks, (std::size_t{1} << 20) / 256);
    for (const unsigned workers : {2u, 4u}) {
      Logging more(workers);
      const LaunchResult r = (more.*kernel)(1 << 20);
      ASSERT_TRUE(r.counts.log);
      EXPECT_EQ(said(*r.counts.log), said(*first.counts.log)) << workers;
    }
  }
}

// Runs blocks of `threads`. The first warp accesses memory `turns` times, the others twice.
LaunchResult run_turns(unsigned turns, unsigned threads, unsigned blocks, bool caches) {
  Kernel kernel("setp.lt.u32 %p1, %r1, 32; selp.u32 %r2, " + std::to_string(turns) +
                    ", 2, %p1; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2;\n"
                    "TURN: ld.global.u32 %r3, [%rd3]; add.u32 %r3, %r3, 1; st.global.u32 [%rd3], %r3;\n"
                    "red.global.add.u32 [%rd1+8192], %r3; sub.u32 %r2, %r2, 1; setp.ne.u32 %p2, %r2, 0; @%p2 bra TURN;",
                1, nullptr, "", "", caches);
  return kernel.run(threads, blocks);
}

// One site may access memory of several kinds, here two warps of the own GPU, one of the host, one of another GPU.
TEST(AccessLog, PartsOfFarMemory) {
  Kernel kernel(
      "shr.u32 %r2, %r1, 5; mul.wide.u32 %rd2, %r2, 8; add.u64 %rd3, %rd1, %rd2; ld.global.u64 %rd4, [%rd3];\n"
      "ld.global.u32 %r3, [%rd4]; st.global.u32 [%rd1+1024], %r3;",
      1, nullptr, "", "", true);
  AddressSpace& space = AddressSpace::instance();
  alignas(kHostPage) static std::uint32_t host[kHostPage / 4];
  space.register_host(reinterpret_cast<std::uint64_t>(host), sizeof host);
  Range other;
  other.device = 1;
  const auto peer = space.allocate(4096, 256, other);
  ASSERT_TRUE(peer.ok());
  const std::uint64_t own = reinterpret_cast<std::uint64_t>(kernel.data) + 2048;
  const std::uint64_t pointers[] = {own, reinterpret_cast<std::uint64_t>(host), *peer, own};
  std::memcpy(kernel.data, pointers, sizeof pointers);
  const LaunchResult r = kernel.run(128);
  space.release(*peer);
  space.unregister_host(reinterpret_cast<std::uint64_t>(host));
  ASSERT_TRUE(r.counts.log);
  const std::vector<events::FarAccesses>& far = r.counts.log->far;
  ASSERT_EQ(far.size(), 3u);
  EXPECT_EQ(far[0], events::FarAccesses{});
  EXPECT_EQ(far[1], (events::FarAccesses{.host = 0.25, .peer = 0.25}));
  EXPECT_EQ(far[2], events::FarAccesses{});
}

// Once a warp's part of the log is full, machine code serves the warp without logging.
TEST(AccessLog, WarpsLeaveAFullLog) {
  constexpr unsigned kTurns = 100'000;
  for (const unsigned threads : {32u, 96u, 256u}) {
    const LaunchResult with = run_turns(kTurns, threads, 1, true), without = run_turns(kTurns, threads, 1, false);
    ASSERT_TRUE(with.counts.log);
    ASSERT_EQ(with.counts.log->blocks.size(), 1u);
    const events::BlockLog& log = with.counts.log->blocks[0];
    EXPECT_GT(log.left_out, 0u);
    EXPECT_LT(log.left_out, 10u);
    for (std::uint32_t w = 1; w < threads / 32; ++w) EXPECT_EQ(log.taken[w], 6u);
    ASSERT_EQ(with.counts.sites.size(), without.counts.sites.size());
    for (std::size_t s = 0; s < with.counts.sites.size(); ++s) {
      EXPECT_EQ(with.counts.sites[s].requests, without.counts.sites[s].requests);
      EXPECT_EQ(with.counts.sites[s].lanes, without.counts.sites[s].lanes);
      EXPECT_EQ(with.counts.sites[s].global.sectors, without.counts.sites[s].global.sectors);
    }
  }
}

// Launches of which no warp is whole: machine code performs the logged accesses, and counts of one place need one slot.
// The first thread adds neighbours, `turns` times.
TEST(AccessLog, WarpsThatAreNotWhole) {
  const auto run = [](unsigned threads, unsigned turns, bool caches, std::vector<std::uint32_t>* results) {
    Kernel kernel("mov.u32 %r2, " + std::to_string(turns) +
                      "; and.b32 %r5, %r2, 0; mov.u64 %rd3, %rd1;\n"
                      "TURN: ld.global.u32 %r3, [%rd3]; ld.global.u32 %r4, [%rd3+4]; add.u32 %r3, %r3, %r4;\n"
                      "st.global.u32 [%rd3], %r3; st.global.u32 [%rd3+4], %r2; ld.global.u8 %r6, [%rd3+2];\n"
                      "add.u32 %r5, %r5, 8; and.b32 %r5, %r5, 2047; cvt.u64.u32 %rd2, %r5; add.u64 %rd3, %rd1, %rd2;\n"
                      "sub.u32 %r2, %r2, 1; setp.ne.u32 %p2, %r2, 0; @%p2 bra TURN;",
                  1, nullptr, "", "", caches);
    for (std::uint32_t k = 0; k < 1024; ++k) kernel.data[k] = k * k;
    LaunchResult r = kernel.run(threads);
    results->assign(kernel.data, kernel.data + 1024);
    return r;
  };
  for (const unsigned threads : {1u, 20u})
    for (const unsigned turns : {300u, 100'000u}) {
      std::vector<std::uint32_t> one, other;
      const LaunchResult with = run(threads, turns, true, &one), without = run(threads, turns, false, &other);
      EXPECT_EQ(one, other);
      ASSERT_TRUE(with.counts.log);
      const events::BlockLog& log = with.counts.log->blocks.at(0);
      ASSERT_EQ(log.accesses.size(), std::min(turns * 5u, 262'144u));
      const std::uint64_t first = log.accesses[0].base;
      constexpr std::uint64_t kPlaces[] = {0, 4, 0, 4, 2};
      for (std::size_t k = 0; k < log.accesses.size(); ++k) {
        const events::LoggedAccess& e = log.accesses[k];
        ASSERT_EQ(e.base - first, k / 5 * 8 % 2048 + kPlaces[k % 5]) << k;
        ASSERT_EQ(e.mask, (LaneMask{1} << threads) - 1);
        ASSERT_EQ(e.type, k % 5 == 2 || k % 5 == 3 ? AccessType::store : AccessType::load);
        ASSERT_FALSE(e.lanes || e.kx != 0 || e.ky != 0);
      }
      ASSERT_EQ(with.counts.sites.size(), without.counts.sites.size());
      for (std::size_t s = 0; s < with.counts.sites.size(); ++s) {
        EXPECT_EQ(with.counts.sites[s].requests, with.counts.sites[s].global_requests == 0 ? 0 : turns);
        EXPECT_EQ(with.counts.sites[s].requests, without.counts.sites[s].requests);
        EXPECT_EQ(with.counts.sites[s].lanes, without.counts.sites[s].lanes);
        EXPECT_EQ(with.counts.sites[s].global, without.counts.sites[s].global);
      }
    }
}

// The choice of logged blocks depends on the number of accesses of block 0, logged or not.
TEST(AccessLog, BlocksOfLongLaunches) {
  const auto blocks = [](unsigned turns) {
    const LaunchResult r = run_turns(turns, 256, 200, true);
    std::vector<std::uint64_t> out;
    for (const events::BlockLog& b : r.counts.log->blocks) out.push_back(b.block);
    return out;
  };
  EXPECT_EQ(blocks(300).size(), 12u);
  EXPECT_EQ(blocks(600), (std::vector<std::uint64_t>{0, 8, 16, 24, 100, 101}));
  EXPECT_EQ(blocks(2000), blocks(600));
}

// A bulk copy of 256 bytes is one request for 8 sectors.
TEST(AccessLog, BulkCopies) {
  Kernel kernel(R"(
    mov.u32 %r2, memory; setp.eq.u32 %p1, %r1, 0;
    @%p1 mbarrier.init.shared.b64 [%r2+1024], 1;
    bar.sync 0;
    @%p1 mbarrier.arrive.expect_tx.shared.b64 %rd5, [%r2+1024], 256;
    @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1+4096], 256, [%r2+1024];
    WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r2+1024], 0;
    @!%p2 bra WAIT;)",
                1, nullptr, "", "", true);
  const LaunchResult r = kernel.run(32);
  ASSERT_TRUE(r.counts.log);
  ASSERT_EQ(r.counts.log->blocks.size(), 1u);
  const events::BlockLog& log = r.counts.log->blocks[0];
  ASSERT_EQ(log.accesses.size(), 1u);
  EXPECT_EQ(log.accesses[0].mask, 0xffu);
  EXPECT_TRUE(log.accesses[0].first);
  EXPECT_EQ(log.left_out, 0u);
}

TEST(AccessLog, LaunchesThatRepeat) {
  Logging run(2);
  const LaunchResult first = run.vadd(5000), again = run.vadd(5000), other = run.vadd(4000);
  EXPECT_TRUE(first.counts.log == again.counts.log);
  EXPECT_TRUE(first.counts.log != other.counts.log);
  Logging data(2);  // the data decide the addresses that a gather reads
  const LaunchResult one = data.gather(4096), two = data.gather(4096);
  EXPECT_TRUE(one.counts.log != two.counts.log);
}

// Logs of launches of a kernel with two arguments, a pointer and `n`, of which `use` makes something.
std::vector<std::shared_ptr<const events::AccessLog>> logs_of(const std::string& use,
                                                              const std::vector<std::uint32_t>& values) {
  const std::string text =
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n) {\n"
      ".reg .b32 %r<8>; .reg .b64 %rd<8>;\n"
      "ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; mul.wide.u32 %rd2, %r2, 4;\n"
      "add.u64 %rd3, %rd1, %rd2; ld.global.u32 %r3, [%rd3];\n" +
      use + "\nst.global.u32 [%rd3], %r3; ret; }\n";
  Options options;
  options.workers = 1;
  options.caches = true;
  Device device(0, **find_gpu_model("h200"), options);
  auto parsed = ptx::parse(text, "test.ptx");
  EXPECT_TRUE(parsed.ok());
  auto loaded = device.load(*parsed);
  EXPECT_TRUE(loaded.ok());
  auto address = reinterpret_cast<std::uint64_t>(*device.allocate(4096));
  std::vector<std::shared_ptr<const events::AccessLog>> out;
  for (std::uint32_t n : values) {
    LaunchConfig config;
    config.block = {64, 1, 1};
    void* parameters[] = {&address, &n, nullptr};
    auto result = device.launch(*loaded, 0, config, parameters);
    EXPECT_TRUE(result.ok());
    out.push_back(result.take().counts.log);
    EXPECT_TRUE(out.back());
  }
  return out;
}

// Launches that differ in a factor repeat, those that differ in a distance do not.
TEST(AccessLog, ArgumentsThatDecideNoAccess) {
  const std::string factor = "mul.lo.u32 %r3, %r3, %r1;";
  const std::string distance = "mul.wide.u32 %rd4, %r1, 4; add.u64 %rd3, %rd3, %rd4;";
  std::vector<std::uint32_t> different(12);
  std::iota(different.begin(), different.end(), 1);
  const auto some = logs_of(factor, different), others = logs_of(distance, different);
  EXPECT_TRUE(some.end()[-1] == some.end()[-2]);
  EXPECT_FALSE(others.end()[-1] == others.end()[-2]);
  // Launches that repeat as they are go on with the logs that they have.
  for (const std::string& use : {factor, distance}) {
    const auto two = logs_of(use, {1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2});
    EXPECT_TRUE(two[0] == two[10]);
    EXPECT_TRUE(two[1] == two[11]);
  }
}

}  // namespace
}  // namespace warpgrind::device
