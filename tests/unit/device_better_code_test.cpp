// Code tiers: new kernels get quick code. Kernels that run for long get better code (device/better_code.h).
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <thread>

#include "device_fixture.h"
#include "jit/compile/kernel_cache.h"

namespace warpgrind::device {
namespace {

constexpr unsigned kSumThreads = 64;

// Each thread of a block adds a neighbour's value from shared memory, `turns` times, between two barriers.
constexpr const char* kSums = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry sums(.param .u64 out, .param .u32 turns)
{
  .reg .pred %p;
  .reg .b32 %r<12>;
  .reg .b64 %rd<4>;
  .shared .align 4 .b8 values[256];
  ld.param.u64 %rd0, [out];
  ld.param.u32 %r0, [turns];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r8, values;
  shl.b32 %r3, %r1, 2;
  add.u32 %r4, %r8, %r3;
  mad.lo.u32 %r5, %r1, 7, 1;
  and.b32 %r5, %r5, 63;
  shl.b32 %r5, %r5, 2;
  add.u32 %r5, %r8, %r5;
  add.u32 %r6, %r1, %r2;
again:
  st.shared.u32 [%r4], %r6;
  bar.sync 0;
  ld.shared.u32 %r7, [%r5];
  bar.sync 0;
  mad.lo.u32 %r6, %r6, 3, %r7;
  sub.u32 %r0, %r0, 1;
  setp.ne.u32 %p, %r0, 0;
  @%p bra again;
  mad.lo.u32 %r9, %r2, 64, %r1;
  mul.wide.u32 %rd1, %r9, 4;
  add.u64 %rd2, %rd0, %rd1;
  st.global.u32 [%rd2], %r6;
  ret;
}
)";

std::vector<std::uint32_t> expected(unsigned block, unsigned turns) {
  std::vector<std::uint32_t> sum(kSumThreads);
  for (unsigned t = 0; t < kSumThreads; ++t) sum[t] = t + block;
  for (unsigned turn = 0; turn < turns; ++turn) {
    const std::vector<std::uint32_t> before = sum;
    for (unsigned t = 0; t < kSumThreads; ++t) sum[t] = before[t] * 3 + before[(t * 7 + 1) % kSumThreads];
  }
  return sum;
}

// Lanes at addresses of their own in global, shared and local memory, and some lanes at addresses side by side.
constexpr const char* kScattered = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry scattered(.param .u64 data)
{
  .reg .pred %p;
  .reg .b32 %r<12>;
  .reg .b64 %rd<8>;
  .shared .align 4 .b8 values[256];
  .local .align 4 .b8 own[64];
  ld.param.u64 %rd0, [data];
  mov.u32 %r0, %tid.x;
  mad.lo.u32 %r1, %r0, 7, 1;
  and.b32 %r1, %r1, 63;
  mul.wide.u32 %rd1, %r1, 4;
  add.u64 %rd1, %rd0, %rd1;
  ld.global.u32 %r2, [%rd1];
  and.b32 %r3, %r0, 15;
  mul.wide.u32 %rd2, %r3, 4;
  mov.u64 %rd3, own;
  add.u64 %rd3, %rd3, %rd2;
  st.local.u32 [%rd3], %r2;
  ld.local.u32 %r4, [%rd3];
  shl.b32 %r5, %r0, 2;
  mov.u32 %r6, values;
  add.u32 %r6, %r6, %r5;
  st.shared.u32 [%r6], %r4;
  bar.sync 0;
  setp.lt.u32 %p, %r0, 25;
  mov.u32 %r7, 0;
  @%p ld.shared.u32 %r7, [%r6+64];
  add.u32 %r7, %r7, %r2;
  st.global.u32 [%rd1+256], %r7;
  ret;
}
)";

// Odd and even lanes come from different branches to operations that exchange predicates, 32-bit and 64-bit values.
constexpr const char* kExchange = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry exchange(.param .u64 data)
{
  .reg .pred %p<4>;
  .reg .b32 %r<12>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd0, [data];
  mov.u32 %r0, %tid.x;
  mul.lo.u32 %r1, %r0, 5;
  and.b32 %r2, %r1, 4;
  setp.ne.u32 %p1, %r2, 0;
  and.b32 %r3, %r0, 1;
  setp.ne.u32 %p0, %r3, 0;
  shr.u32 %r4, %r0, 3;
  cvt.u64.u32 %rd1, %r4;
  shl.b64 %rd1, %rd1, 40;
  @%p0 bra odd;
  add.u32 %r1, %r1, 1000;
  vote.sync.ballot.b32 %r5, %p1, 0xffffffff;
  shfl.sync.bfly.b32 %r6, %r1, 1, 31, 0xffffffff;
  match.any.sync.b64 %r7, %rd1, 0xffffffff;
  bra done;
odd:
  vote.sync.ballot.b32 %r5, %p1, 0xffffffff;
  shfl.sync.bfly.b32 %r6, %r1, 1, 31, 0xffffffff;
  match.any.sync.b64 %r7, %rd1, 0xffffffff;
done:
  mul.wide.u32 %rd2, %r0, 12;
  add.u64 %rd2, %rd0, %rd2;
  st.global.u32 [%rd2], %r5;
  st.global.u32 [%rd2+4], %r6;
  st.global.u32 [%rd2+8], %r7;
  ret;
}
)";

struct Sums {
  explicit Sums(const Options& options) : device(0, **find_gpu_model("h200"), options) {
    module = *device.load(*ptx::parse(kSums, "sums"));
  }
  LaunchResult run(unsigned blocks, unsigned turns) {
    auto* out = reinterpret_cast<std::uint32_t*>(*device.allocate(blocks * kSumThreads * 4));
    void* arguments[] = {&out, &turns, nullptr};
    auto result = device.launch(module, 0, shape({blocks, 1, 1}, {kSumThreads, 1, 1}), arguments);
    EXPECT_TRUE(result.ok());
    EXPECT_FALSE(result->fault) << result->fault->message;
    for (const unsigned b : {0u, blocks / 2, blocks - 1}) {
      const std::vector<std::uint32_t> good = expected(b, turns);
      EXPECT_TRUE(std::equal(good.begin(), good.end(), out + b * kSumThreads)) << b;
    }
    return result.take();
  }
  Device device;
  LoadedModule* module = nullptr;
};

std::string new_folder() {
  std::string folder = testing::TempDir() + "warpgrind-cache-XXXXXX";
  EXPECT_NE(mkdtemp(folder.data()), nullptr);
  return folder;
}

// Keys of the quick code in a disk cache.
std::vector<std::string> quick_kernels(const std::string& folder) {
  std::vector<std::string> out;
  for (const auto& file : std::filesystem::directory_iterator(folder + "/kernels"))
    if (const std::string name = file.path().filename(); name.ends_with("-quick")) out.push_back(name);
  return out;
}

// A launch that ends while its better code is being made waits for the compiler, and not for the host.
TEST(BetterCode, IsNotWaitedForByTheHost) {
  Options options;
  options.quick_start = true;
  for (unsigned attempt = 0; attempt < 4; ++attempt) {
    Sums sums(options);
    std::atomic<bool> ends{false}, waits{false};
    std::thread looks([&] {
      while (!ends) {
        if (sums.device.only_waits()) waits = true;
        std::this_thread::yield();
      }
    });
    unsigned turns = 200;
    while (sums.run(500, turns).quick && turns < 1 << 20) turns = turns * 5 / 4;
    ends = true;
    looks.join();
    EXPECT_FALSE(waits) << attempt;
  }
}

TEST(BetterCode, ComesForKernelsThatRunForLong) {
  Options options;
  options.quick_start = true;
  std::optional<Sums> held;
  LaunchResult first;
  for (unsigned attempt = 0; attempt < 5 && !first.quick; ++attempt) {
    held.emplace(options);
    first = held->run(1, 2);  // on a busy machine even this one may run long
  }
  Sums& sums = *held;
  ASSERT_TRUE(first.quick);
  EXPECT_EQ(first.kernel->size.tier, jit::Tier::quick);
  EXPECT_GT(first.kernel->better_seconds, 0);
  // The work grows until one launch runs longer than quick code may. It gets better code while it runs.
  LaunchResult last;
  unsigned turns = 200;
  do {
    last = sums.run(500, turns *= 2);
  } while (last.quick && turns < 1 << 20);
  EXPECT_FALSE(last.quick);
  const LaunchResult after = sums.run(1, 2);
  EXPECT_FALSE(after.quick);
  EXPECT_EQ(after.kernel, first.kernel);  // others hold its facts

  Sums plain({});
  const LaunchResult same = plain.run(500, turns);
  EXPECT_FALSE(same.quick);
  EXPECT_NE(same.kernel->size.tier, jit::Tier::quick);
  ASSERT_EQ(same.counts.blocks.size(), last.counts.blocks.size());
  for (std::size_t b = 0; b < same.counts.blocks.size(); ++b) {
    EXPECT_EQ(same.counts.blocks[b].warps, last.counts.blocks[b].warps) << b;
    EXPECT_EQ(same.counts.blocks[b].lanes, last.counts.blocks[b].lanes) << b;
  }
}

// Quick code of a new kernel leaves scattered accesses to the device. It has the sites, counts and results of other
// code.
TEST(BetterCode, CountsTheSame) {
  constexpr unsigned kThreads = 56, kPlaces = 64;
  const auto run = [&](bool quick_start) {
    Options options;
    options.quick_start = quick_start;
    options.workers = 1;
    Device device(0, **find_gpu_model("h200"), options);
    LoadedModule* module = *device.load(*ptx::parse(kScattered, "scattered"));
    auto* data = reinterpret_cast<std::uint32_t*>(*device.allocate(2 * kPlaces * 4));
    for (unsigned k = 0; k < kPlaces; ++k) data[k] = k * 1000;
    void* arguments[] = {&data, nullptr};
    auto result = device.launch(module, 0, shape({3, 1, 1}, {kThreads, 1, 1}), arguments);
    EXPECT_FALSE(result->fault);
    for (unsigned t = 0; t < kThreads; ++t) {
      const unsigned place = (t * 7 + 1) % kPlaces, other = ((t + 16) * 7 + 1) % kPlaces;
      EXPECT_EQ(data[kPlaces + place], place * 1000 + (t < 25 ? other * 1000 : 0)) << t;
    }
    const auto& sites = result->kernel->facts().sites;
    std::vector<std::pair<std::uint32_t, events::SiteCounts>> counts;
    for (std::size_t s = 0; s < sites.size(); ++s) counts.emplace_back(sites[s].leader, result->counts.sites[s]);
    EXPECT_EQ(result->kernel->size.tier, quick_start ? jit::Tier::quick : jit::Tier::full);
    return std::pair(counts, result->kernel->size.code.instructions);
  };
  const auto [counts, instructions] = run(false);
  const auto [quick_counts, quick_instructions] = run(true);
  EXPECT_EQ(counts, quick_counts);
  EXPECT_EQ(counts.size(), 7u);
  if (__builtin_cpu_supports("avx512f")) EXPECT_LT(quick_instructions, instructions);
}

TEST(BetterCode, ExchangesTheSameValues) {
  for (const bool quick_start : {false, true}) {
    Options options;
    options.quick_start = quick_start;
    Device device(0, **find_gpu_model("h200"), options);
    LoadedModule* module = *device.load(*ptx::parse(kExchange, "exchange"));
    auto* data = reinterpret_cast<std::uint32_t*>(*device.allocate(3 * kWarpSize * 4));
    void* arguments[] = {&data, nullptr};
    auto result = device.launch(module, 0, shape({1, 1, 1}, {kWarpSize, 1, 1}), arguments);
    ASSERT_TRUE(result.ok());
    EXPECT_FALSE(result->fault);
    std::uint32_t ballot = 0;
    for (unsigned t = 0; t < kWarpSize; ++t) ballot |= (t * 5 >> 2 & 1) << t;
    for (unsigned t = 0; t < kWarpSize; ++t) {
      EXPECT_EQ(data[3 * t], ballot) << t;
      EXPECT_EQ(data[3 * t + 1], (t ^ 1) * 5 + (t % 2 == 1 ? 1000 : 0)) << t;
      EXPECT_EQ(data[3 * t + 2], 0xffu << t / 8 * 8) << t;
    }
  }
}

// Quick code is stored on disk too, but better code on disk is preferred.
TEST(BetterCode, IsTakenFromTheCache) {
  const std::string folder = new_folder();
  Options quick, full;
  quick.cache_directory = full.cache_directory = folder;
  quick.quick_start = true;
  Sums first(quick), second(quick), better(full), third(quick);
  EXPECT_FALSE(first.run(1, 2).kernel->from_cache);
  const LaunchResult found = second.run(1, 2);
  EXPECT_TRUE(found.kernel->from_cache);
  EXPECT_TRUE(found.quick);
  EXPECT_FALSE(better.run(1, 2).kernel->from_cache);
  const LaunchResult newest = third.run(1, 2);
  EXPECT_TRUE(newest.kernel->from_cache);
  EXPECT_FALSE(newest.quick);
}

// Many short runs of a program add up to better code, too.
TEST(BetterCode, CountsTheTimeOfEarlierProcesses) {
  const std::string folder = new_folder();
  Options options;
  options.cache_directory = folder;
  options.quick_start = true;
  Sums first(options);
  first.run(1, 2);
  const jit::KernelCache cache(folder);
  const std::vector<std::string> quick = quick_kernels(folder);
  ASSERT_EQ(quick.size(), 1u);
  cache.store_seconds(quick[0], 1000);
  EXPECT_EQ(cache.seconds_run(quick[0]), 1000);
  Sums second(options);
  const LaunchResult better = second.run(1, 2);
  EXPECT_FALSE(better.quick);
}

// What a process has run is stored before it ends.
TEST(BetterCode, StoresItsTime) {
  Options options;
  options.quick_start = true;
  double seconds = 0;
  unsigned most_quick = 0;                                              // launches before better code came
  for (unsigned attempt = 0; attempt < 5 && seconds == 0; ++attempt) {  // a busy machine may miss the moment
    const std::string folder = options.cache_directory = new_folder();
    Sums sums(options);
    unsigned quick = 0;
    for (unsigned turns = 200; sums.run(50, turns).quick && turns < 1 << 20; ++quick) turns *= 2;
    most_quick = std::max(most_quick, quick);
    for (const std::string& name : quick_kernels(folder)) seconds += jit::KernelCache(folder).seconds_run(name);
  }
  // With a sanitizer, or on a busy machine, the first launches may take longer than quick code may run.
  if (seconds == 0 && most_quick < 3) GTEST_SKIP() << most_quick << " launches of quick code";
  EXPECT_GT(seconds, 0);
}

}  // namespace
}  // namespace warpgrind::device
