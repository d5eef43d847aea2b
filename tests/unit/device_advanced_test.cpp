// Nested grids, grid barriers, named barriers, locks, variables, observers: tests/data/device/advanced.ptx.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "device_fixture.h"

namespace warpgrind::device {
namespace {

Gpu advanced_gpu(unsigned workers = 2, events::Observer* observer = nullptr) {
  return Gpu(workers, 600, "advanced.ptx", observer);
}

TEST(Advanced, KernelsLaunchKernels) {
  Gpu gpu = advanced_gpu();
  int* out = gpu.array<int>(96);
  const LaunchResult r = gpu.run("parent", shape({3, 1, 1}, {64, 1, 1}), out);
  ASSERT_FALSE(r.fault) << r.fault->message;
  for (int i = 0; i < 96; ++i) EXPECT_EQ(out[i], 1 + 2 + 3 + 3);
  EXPECT_EQ(r.children.size(), 12u);
}

TEST(Advanced, GridBarrier) {
  for (unsigned workers : {1u, 2u}) {
    Gpu gpu = advanced_gpu(workers);
    const int n = 20 * 96;
    int* data = gpu.array<int>(2 * n);
    for (int i = 0; i < n; ++i) data[i] = i;
    LaunchConfig config = shape({20, 1, 1}, {96, 1, 1});
    config.cooperative = true;
    const LaunchResult r = gpu.run("grid_sync", config, data, n);
    ASSERT_FALSE(r.fault) << r.fault->message;
    for (int i = 0; i < n; ++i) ASSERT_EQ(data[i], (i + 4) % n + 4) << i;
  }
}

TEST(Advanced, BarrierReductions) {
  Gpu gpu = advanced_gpu();
  int* out = gpu.array<int>(3);
  ASSERT_FALSE(gpu.run("reductions", shape({1, 1, 1}, {128, 1, 1}), out).fault);
  EXPECT_EQ(out[0], 43);
  EXPECT_EQ(out[1], 0);
  EXPECT_NE(out[2], 0);
  ASSERT_FALSE(gpu.run("reductions", shape({1, 1, 1}, {20, 1, 1}), out).fault);
  EXPECT_EQ(out[0], 7);
  EXPECT_NE(out[1], 0);
  EXPECT_EQ(out[2], 0);
}

TEST(Advanced, NamedBarriers) {
  Gpu gpu = advanced_gpu();
  int* out = gpu.array<int>(640);
  const LaunchResult r = gpu.run("producer", shape({1, 1, 1}, {128, 1, 1}), out);
  ASSERT_FALSE(r.fault) << r.fault->message;
  for (int i = 0; i < 640; ++i) ASSERT_EQ(out[i], i / 64 * 100 + i % 64) << i;
}

TEST(Advanced, ThreadsMayLeaveBeforeABarrier) {
  Gpu gpu = advanced_gpu();
  int* out = gpu.array<int>(300);
  const LaunchResult r = gpu.run("early_exit", shape({2, 1, 1}, {256, 1, 1}), out, 300);
  ASSERT_FALSE(r.fault) << r.fault->message;
  for (int i = 0; i < 300; ++i) EXPECT_EQ(out[i], i);
  EXPECT_TRUE(r.warnings.empty());  // legal: exited threads do not count
}

TEST(Advanced, SpinLockWithinAWarp) {
  Gpu gpu = advanced_gpu();
  int* words = gpu.array<int>(2);
  const LaunchResult r = gpu.run("lock", shape({4, 1, 1}, {64, 1, 1}), words, words + 1);
  ASSERT_FALSE(r.fault) << r.fault->message;
  EXPECT_EQ(words[1], 256);
}

TEST(Advanced, BlocksWaitForEarlierBlocks) {
  for (unsigned workers : {1u, 2u}) {
    Gpu gpu = advanced_gpu(workers);
    int *flags = gpu.array<int>(500), *out = gpu.array<int>(500);
    const LaunchResult r = gpu.run("chain", shape({500, 1, 1}, {64, 1, 1}), flags, out);
    ASSERT_FALSE(r.fault) << r.fault->message;
    for (int i = 0; i < 500; ++i) ASSERT_EQ(out[i], i);
  }
}

TEST(Advanced, VariablesAndFunctionPointers) {
  Gpu gpu = advanced_gpu();
  float* out = gpu.array<float>(4);
  LaunchResult r = gpu.run("variables", shape({1, 1, 1}, {4, 1, 1}), out);
  ASSERT_FALSE(r.fault) << r.fault->message;
  EXPECT_EQ(out[0], 1 + 0.5f + 3 + 7);
  EXPECT_EQ(out[3], 4 + 0.25f + 3 + 7);
  const auto managed = gpu.device->variable(gpu.module, "managed_value");
  ASSERT_TRUE(managed);
  EXPECT_TRUE(managed->managed);
  *reinterpret_cast<int*>(managed->address) = 100;
  gpu.run("variables", shape({1, 1, 1}, {4, 1, 1}), out);
  EXPECT_EQ(out[0], 1 + 0.5f + 3 + 100);
  int* results = gpu.array<int>(32);
  r = gpu.run("indirect", shape({1, 1, 1}, {32, 1, 1}), results);
  ASSERT_FALSE(r.fault) << r.fault->message;
  for (int i = 0; i < 32; ++i) EXPECT_EQ(results[i], i % 2 ? i * i : 2 * i);
}

TEST(Advanced, WideAccesses) {
  Gpu gpu = advanced_gpu();
  const int n = 77;
  double* out = gpu.array<double>(2 * n);
  float* in = gpu.array<float>(4 * n);
  char* bytes = gpu.array<char>(3 * n);
  for (int i = 0; i < 4 * n; ++i) in[i] = static_cast<float>(i);
  for (int i = 0; i < 3 * n; ++i) bytes[i] = static_cast<char>(i % 100);
  const LaunchResult r = gpu.run("wide", shape({2, 1, 1}, {64, 1, 1}), out, in, bytes, n);
  ASSERT_FALSE(r.fault) << r.fault->message;
  for (int i = 0; i < n; ++i) {
    const float* v = in + 4 * (n - 1 - i);
    EXPECT_EQ(out[2 * i], v[0] + v[1]);
    EXPECT_EQ(out[2 * i + 1], v[2] + v[3] + static_cast<float>(3 * i % 100));
  }
}

TEST(Advanced, AnyBlockShape) {
  for (const Dim3& block : {Dim3{3, 5, 7}, Dim3{33, 2, 1}, Dim3{8, 4, 3}, Dim3{1, 1, 64}, Dim3{16, 3, 2},
                            Dim3{1000, 1, 1}, Dim3{2, 16, 2}, Dim3{1, 1, 1}}) {
    Gpu gpu = advanced_gpu(1);
    const std::uint64_t threads = block.count();
    int* out = gpu.array<int>(2 * threads);
    const LaunchResult r = gpu.run("block3d", shape({2, 1, 1}, block), out);
    ASSERT_FALSE(r.fault) << r.fault->message;
    for (unsigned i = 0; i < 2 * threads; ++i) {
      const unsigned t = i % threads;
      ASSERT_EQ(static_cast<unsigned>(out[i]), t % block.x + 100 * (t / block.x % block.y) +
                                                   10000 * (t / block.x / block.y) + 1000000 * (i / threads));
    }
  }
}

// Observers see every access. Their sums equal the inline counts.
class EventCounter : public events::Observer {
 public:
  events::Wants wants() const override { return {true, true, true}; }
  void on_launch_begin(const events::Launch&) override { ++launches; }
  void on_access(const events::Access& a, unsigned) override {
    ++accesses;
    lanes += static_cast<unsigned>(__builtin_popcount(a.mask));
  }
  void on_barrier(const events::Barrier&, unsigned) override { ++barriers; }
  std::atomic<std::uint64_t> launches{0}, accesses{0}, lanes{0}, barriers{0};
};

TEST(Advanced, ObserversSeeEveryAccess) {
  events::LaunchCounts counts[2];
  EventCounter recorder;
  for (int observed = 0; observed < 2; ++observed) {
    Gpu gpu(2, 600, "kernels.ptx", observed ? &recorder : nullptr);
    const int n = 64;
    auto *a = gpu.array<float>(n * n), *b = gpu.array<float>(n * n), *c = gpu.array<float>(n * n);
    const LaunchResult r = gpu.run("tiled", shape({4, 4, 1}, {16, 16, 1}), a, b, c, n);
    ASSERT_FALSE(r.fault) << r.fault->message;
    counts[observed] = r.counts;
  }
  EXPECT_EQ(recorder.launches, 1u);
  EXPECT_EQ(recorder.barriers, 16u * 8 * 2 * 4);
  std::uint64_t accesses = 0, lanes = 0;
  ASSERT_EQ(counts[0].sites.size(), counts[1].sites.size());
  for (std::size_t s = 0; s < counts[0].sites.size(); ++s) {
    EXPECT_EQ(counts[0].sites[s].requests, counts[1].sites[s].requests);
    EXPECT_EQ(counts[0].sites[s].global.sectors, counts[1].sites[s].global.sectors);
    EXPECT_EQ(counts[0].sites[s].shared.wavefronts, counts[1].sites[s].shared.wavefronts);
    accesses += counts[1].sites[s].requests;
    lanes += counts[1].sites[s].lanes;
  }
  EXPECT_EQ(recorder.accesses, accesses);
  EXPECT_EQ(recorder.lanes, lanes);
}

struct AtLaunch : events::Observer {
  std::function<void()> begin;
  events::Wants wants() const override { return {}; }
  void on_launch_begin(const events::Launch&) override { begin(); }
};

// An interrupt requested after the kernel is compiled and before it counts as running must not be lost.
TEST(Advanced, InterruptBeforeTheKernelRuns) {
  AtLaunch once;
  once.begin = [] { request_interrupt(); };
  Gpu gpu(2, 0, "kernels.ptx", &once);
  const LaunchResult r = gpu.run("spin", shape({4, 1, 1}, {64, 1, 1}), gpu.array<int>(1));
  ASSERT_TRUE(r.fault);
  EXPECT_EQ(r.fault->kind, FaultKind::interrupted);
  once.begin = [] {};  // no interrupt is left for the next kernel
  float* good = gpu.array<float>(32);
  EXPECT_FALSE(gpu.run("oob", shape({1, 1, 1}, {32, 1, 1}), good, 0).fault);
}

TEST(Advanced, InterruptEndsTheKernel) {
  for (const char* kernel : {"say_and_wait", "say_and_recurse"}) {
    SCOPED_TRACE(kernel);
    Gpu gpu(2, 0, "waiting.ptx");
    auto* flags = gpu.array<int>(2);
    std::thread other([flags] {
      while (*static_cast<volatile int*>(flags) == 0) std::this_thread::yield();
      request_interrupt();
    });
    const LaunchResult r = gpu.run(kernel, shape({4, 1, 1}, {64, 1, 1}), flags);
    other.join();
    ASSERT_TRUE(r.fault);
    EXPECT_EQ(r.fault->kind, FaultKind::interrupted);
    EXPECT_FALSE(r.fault->warps.empty());
  }
}

TEST(Advanced, StaleHostMemoryIsAFaultAndNoCrash) {
  Gpu gpu;
  // Registered memory that is not mapped: the last check catches it.
  auto* gone = reinterpret_cast<float*>(0x100000);
  gpu.device->register_host(gone, 4096);
  const LaunchResult r = gpu.run("oob", shape({1, 1, 1}, {32, 1, 1}), gone, 0);
  gpu.device->unregister_host(gone);
  ASSERT_TRUE(r.fault);
  EXPECT_EQ(r.fault->kind, FaultKind::illegal_address);
  float* good = gpu.array<float>(32);
  EXPECT_FALSE(gpu.run("oob", shape({1, 1, 1}, {32, 1, 1}), good, 0).fault);
}

}  // namespace
}  // namespace warpgrind::device
