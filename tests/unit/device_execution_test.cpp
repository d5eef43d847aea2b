// Grids on the virtual GPU: PTX kernels (tests/data/device/kernels.ptx, made from kernels.cu) through the whole device.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

#include "device_fixture.h"

namespace warpgrind::device {
namespace {

TEST(Execution, VectorAdditionCountsEveryAccess) {
  for (unsigned workers : {1u, 2u, 3u}) {
    Gpu gpu(workers);
    const int n = 100003;
    auto *a = gpu.array<float>(n), *b = gpu.array<float>(n), *c = gpu.array<float>(n);
    for (int i = 0; i < n; ++i) {
      a[i] = static_cast<float>(i);
      b[i] = static_cast<float>(2 * i);
    }
    const LaunchResult r = gpu.run("vadd", shape({(n + 255) / 256, 1, 1}, {256, 1, 1}), a, b, c, n);
    ASSERT_FALSE(r.fault) << r.fault->message;
    for (int i = 0; i < n; ++i) ASSERT_EQ(c[i], static_cast<float>(3 * i)) << i;
    const std::uint64_t warps = (n + 31) / 32;
    const auto loads = total(r, events::SiteKind::load);
    EXPECT_EQ(loads.global_requests, 2 * warps);
    EXPECT_EQ(loads.lanes, 2u * n);
    EXPECT_EQ(loads.global.sectors, 2u * ((n * 4 + 31) / 32));
    EXPECT_EQ(total(r, events::SiteKind::store).global_requests, warps);
    EXPECT_EQ(r.counts.threads_launched, (n + 255) / 256 * 256u);
  }
}

TEST(Execution, TiledMultiplication) {
  Gpu gpu(2);
  const int n = 64;
  auto *a = gpu.array<float>(n * n), *b = gpu.array<float>(n * n), *c = gpu.array<float>(n * n);
  for (int i = 0; i < n * n; ++i) {
    a[i] = static_cast<float>(i % 7);
    b[i] = static_cast<float>(i % 5);
  }
  const LaunchResult r = gpu.run("tiled", shape({4, 4, 1}, {16, 16, 1}), a, b, c, n);
  ASSERT_FALSE(r.fault) << r.fault->message;
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x) {
      float sum = 0;
      for (int k = 0; k < n; ++k) sum += a[y * n + k] * b[k * n + x];
      ASSERT_EQ(c[y * n + x], sum);
    }
  EXPECT_EQ(total(r, events::SiteKind::load).global_requests, 64u * 64 * 64 / (16 * 16));
  EXPECT_EQ(total(r, events::SiteKind::load).shared.bank_conflicts, 0u);
  EXPECT_TRUE(r.warnings.empty());
}

TEST(Execution, TreeReduction) {
  Gpu gpu;
  const int n = 4096;
  auto* in = gpu.array<float>(n);
  auto* out = gpu.array<float>(16);
  for (int i = 0; i < n; ++i) in[i] = 1;
  ASSERT_FALSE(gpu.run("reduce", shape({16, 1, 1}, {256, 1, 1}, 1024), in, out, n).fault);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(out[i], 256.0f);
  const LaunchResult r = gpu.run("reduce", shape({16, 1, 1}, {256, 1, 1}, 0), in, out, n);
  ASSERT_TRUE(r.fault);
  EXPECT_EQ(r.fault->kind, FaultKind::shared_out_of_bounds);
}

TEST(Execution, GatherCountsDistinctSectors) {
  Gpu gpu(2);
  const int n = 8192;
  auto *a = gpu.array<float>(n), *c = gpu.array<float>(n);
  auto* index = gpu.array<int>(n);
  for (int i = 0; i < n; ++i) {
    a[i] = static_cast<float>(i);
    index[i] = static_cast<int>((i * 2654435761u) % n);
  }
  const LaunchResult r = gpu.run("gather", shape({n / 128, 1, 1}, {128, 1, 1}), a, index, c, n);
  ASSERT_FALSE(r.fault) << r.fault->message;
  std::uint64_t sectors = 0;
  for (int w = 0; w < n; w += 32) {
    std::vector<int> s;
    for (int l = 0; l < 32; ++l) s.push_back(index[w + l] / 8);
    std::sort(s.begin(), s.end());
    sectors += static_cast<std::uint64_t>(std::unique(s.begin(), s.end()) - s.begin());
  }
  for (int i = 0; i < n; ++i) ASSERT_EQ(c[i], a[index[i]]);
  EXPECT_EQ(total(r, events::SiteKind::load).global.sectors, sectors + n / 8);
}

TEST(Execution, PrintfAndAssert) {
  Gpu gpu;
  testing::internal::CaptureStdout();
  const LaunchResult r = gpu.run("hello", shape({2, 1, 1}, {2, 1, 1}), 2);
  EXPECT_FALSE(r.fault);
  gpu.device->flush_output();
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "b 0 t 0 str  0.00 1234567890123 0x10 %\nb 0 t 1 str  1.50 1234567890123 0x10 %\n"
            "b 1 t 0 str  0.00 1234567890123 0x10 %\nb 1 t 1 str  1.50 1234567890123 0x10 %\n");
  testing::internal::CaptureStderr();
  const LaunchResult failed = gpu.run("hello", shape({1, 1, 1}, {4, 1, 1}), 3);
  const std::string text = testing::internal::GetCapturedStderr();
  ASSERT_TRUE(failed.fault);
  EXPECT_EQ(failed.fault->kind, FaultKind::assertion);
  EXPECT_EQ(failed.fault->thread, (Dim3{3, 0, 0}));
  EXPECT_NE(text.find("block: [0,0,0], thread: [3,0,0] Assertion `threadIdx.x<n` failed."), std::string::npos) << text;
}

TEST(Execution, HeapOfTheKernel) {
  Gpu gpu;
  auto* out = gpu.array<int*>(64);
  ASSERT_FALSE(gpu.run("heap", shape({1, 1, 1}, {64, 1, 1}), out).fault);
  for (int i = 0; i < 64; i += 2) EXPECT_EQ(*out[i], i);
}

TEST(Execution, OutOfBoundsIsAFault) {
  Gpu gpu;
  auto* a = gpu.array<float>(1000);
  EXPECT_FALSE(gpu.run("oob", shape({1, 1, 1}, {32, 1, 1}), a, 968).fault);
  const LaunchResult r = gpu.run("oob", shape({1, 1, 1}, {32, 1, 1}), a, 990);
  ASSERT_TRUE(r.fault);
  EXPECT_EQ(r.fault->kind, FaultKind::illegal_address);
  EXPECT_EQ(r.fault->thread.x, 10u);
  EXPECT_NE(r.fault->message.find("just past the end of a 4000-byte allocation"), std::string::npos)
      << r.fault->message;
  EXPECT_EQ(r.fault->line, 29u);
  EXPECT_EQ(gpu.run("oob", shape({1, 1, 1}, {32, 1, 1}), static_cast<float*>(nullptr), 0).fault->kind,
            FaultKind::illegal_address);
  EXPECT_EQ(gpu.run("oob", shape({1, 1, 1}, {32, 1, 1}), reinterpret_cast<float*>(reinterpret_cast<char*>(a) + 2), 0)
                .fault->kind,
            FaultKind::misaligned_address);
  EXPECT_FALSE(gpu.run("oob", shape({1, 1, 1}, {32, 1, 1}), a, 0).fault);  // the device still works
}

TEST(Execution, EndlessLoopTimesOut) {
  Gpu gpu(2, 0.3);
  const LaunchResult r = gpu.run("spin", shape({4, 1, 1}, {64, 1, 1}), gpu.array<int>(1));
  ASSERT_TRUE(r.fault);
  EXPECT_EQ(r.fault->kind, FaultKind::timeout);
  EXPECT_FALSE(r.fault->warps.empty());
}

// A timeout as from the run's limit, on a device without one. Ending the launch may take time.
TEST(Execution, TheDeviceWorksAfterATimeout) {
  Gpu gpu(2);
  auto* flag = gpu.array<int>(1);
  std::thread limit([] {
    while (!request_timeout()) std::this_thread::yield();
  });
  const LaunchResult r = gpu.run("spin", shape({4, 1, 1}, {64, 1, 1}), flag);
  limit.join();
  ASSERT_TRUE(r.fault);
  EXPECT_EQ(r.fault->kind, FaultKind::timeout);
  *flag = 1;
  EXPECT_FALSE(gpu.run("spin", shape({4, 1, 1}, {64, 1, 1}), flag).fault);
}

TEST(Execution, DeadlockIsFound) {
  Gpu gpu;
  const LaunchResult r = gpu.run("deadlock", shape({3, 1, 1}, {128, 1, 1}));
  ASSERT_TRUE(r.fault);
  EXPECT_EQ(r.fault->kind, FaultKind::barrier_mismatch);
  EXPECT_EQ(r.fault->warps.size(), 4u);
}

TEST(Execution, BlocksMayWaitForLaterBlocks) {
  for (unsigned workers : {1u, 2u}) {
    Gpu gpu(workers, 600);
    auto* count = gpu.array<int>(1);
    auto* out = gpu.array<int>(50);
    const LaunchResult r = gpu.run("gridbar", shape({50, 1, 1}, {64, 1, 1}), count, out);
    ASSERT_FALSE(r.fault) << r.fault->message;
    for (int i = 0; i < 50; ++i) EXPECT_EQ(out[i], 50);
  }
}

TEST(Execution, RecursionAndLocalArrays) {
  Gpu gpu;
  auto* out = gpu.array<int>(32);
  LaunchResult r = gpu.run("fib", shape({1, 1, 1}, {32, 1, 1}), 8, out);
  ASSERT_FALSE(r.fault) << r.fault->message;
  const int expected[] = {21, 34, 55};
  for (int i = 0; i < 32; ++i) EXPECT_EQ(out[i], expected[i % 3]);
  r = gpu.run("local", shape({1, 1, 1}, {32, 1, 1}), out, 3);
  ASSERT_FALSE(r.fault) << r.fault->message;
  for (int i = 0; i < 32; ++i) EXPECT_EQ(out[i], ((i * 7 + 3) & 63) * i);
}

TEST(Memory, LookUpAndReuse) {
  Gpu gpu;
  Device& d = *gpu.device;
  const std::uint64_t before = d.bytes_free();
  const std::uint64_t big = *d.allocate(std::uint64_t{4} << 30), small = *d.allocate(100);
  EXPECT_EQ(before - d.bytes_free(), (std::uint64_t{4} << 30) + 100);
  EXPECT_EQ(d.find(small + 99)->address, small);
  EXPECT_FALSE(d.find(small + 100));
  EXPECT_FALSE(d.find(small - 1));
  std::memset(reinterpret_cast<void*>(small), 1, 100);
  EXPECT_FALSE(d.free(small + 8));
  EXPECT_TRUE(d.free(small));
  EXPECT_FALSE(d.free(small));
  const std::uint64_t again = *d.allocate(100);
  EXPECT_EQ(*reinterpret_cast<std::uint8_t*>(again), 0);
  EXPECT_TRUE(d.free(big));
  EXPECT_TRUE(d.free(again));
  EXPECT_EQ(d.bytes_free(), before);
  EXPECT_FALSE(d.allocate(d.bytes_total() + 1).ok());
}

}  // namespace
}  // namespace warpgrind::device
