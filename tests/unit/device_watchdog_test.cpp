// Stops of running launches, however many there are. The launches here only have flags.
#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "device/state.h"
#include "device/watchdog.h"

namespace warpgrind::device {
namespace {

struct NoCode final : jit::CompiledKernel {
  jit::WarpFunction entry() const override { return nullptr; }
  void store_quick_seconds(double) const override {}
  const events::KernelFacts& facts() const override { return own; }
  events::KernelFacts own;
};

// A launch among the running ones.
class Running {
 public:
  explicit Running(const KernelRecord& kernel)
      : launch_({.device = nullptr,
                 .module = nullptr,
                 .kernel = &kernel,
                 .config = {},
                 .serial = 0,
                 .depth = 0,
                 .rules = {},
                 .counters = false,
                 .bounds_stop = false,
                 .shadow = nullptr,
                 .stops = nullptr,
                 .fill = std::nullopt},
                {}, {}, {}) {
    enlist(&launch_);
  }
  ~Running() { delist(&launch_); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  bool stopped_by(FaultKind kind) const {
    return launch_.interrupt.load() == 1 && launch_.stop_reason.load() == static_cast<std::uint32_t>(kind) + 1;
  }

 private:
  Launch launch_;
};

using AllRunning = std::vector<std::unique_ptr<Running>>;

std::size_t stopped(const AllRunning& all, FaultKind kind) {
  std::size_t n = 0;
  for (const auto& one : all) n += one->stopped_by(kind) ? 1 : 0;
  return n;
}

constexpr std::size_t kMany = 200;

TEST(Watchdog, StopsAnyNumberOfLaunches) {
  KernelRecord kernel;
  kernel.code = std::make_unique<NoCode>();
  AllRunning all;
  for (std::size_t i = 0; i < kMany; ++i) all.push_back(std::make_unique<Running>(kernel));
  request_interrupt();
  EXPECT_EQ(stopped(all, FaultKind::interrupted), kMany);
  all.clear();
  EXPECT_FALSE(request_timeout());  // none runs

  for (std::size_t i = 0; i < kMany; ++i) all.push_back(std::make_unique<Running>(kernel));
  EXPECT_TRUE(request_timeout());
  EXPECT_EQ(stopped(all, FaultKind::timeout), kMany);
}

// A launch that has ended leaves its slot to a later one, in whichever array it was.
TEST(Watchdog, LaunchesComeAndGo) {
  KernelRecord kernel;
  kernel.code = std::make_unique<NoCode>();
  AllRunning all;
  for (std::size_t i = 0; i < kMany; ++i) all.push_back(std::make_unique<Running>(kernel));
  for (std::size_t i = 0; i < kMany; i += 2) all[i] = nullptr;
  std::erase(all, nullptr);
  all.push_back(std::make_unique<Running>(kernel));
  EXPECT_TRUE(request_timeout());
  EXPECT_EQ(stopped(all, FaultKind::timeout), kMany / 2 + 1);
}

// Several threads need another array at the same time.
TEST(Watchdog, LaunchesOfSeveralThreads) {
  KernelRecord kernel;
  kernel.code = std::make_unique<NoCode>();
  std::vector<AllRunning> all(4);
  std::vector<std::thread> threads;
  for (AllRunning& own : all)
    threads.emplace_back([&kernel, &own] {
      for (std::size_t i = 0; i < kMany; ++i) own.push_back(std::make_unique<Running>(kernel));
    });
  for (std::thread& thread : threads) thread.join();
  request_interrupt();
  for (const AllRunning& own : all) EXPECT_EQ(stopped(own, FaultKind::interrupted), kMany);
}

}  // namespace
}  // namespace warpgrind::device
