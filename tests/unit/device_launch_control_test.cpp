// Cluster launch control: blocks that cancel the launch of others and do their work.
#include <algorithm>
#include <set>
#include <vector>

#include "device_fixture.h"

namespace warpgrind::device {
namespace {

constexpr std::uint64_t kMostShared = 200 << 10;  // one block fits on an SM of the model
constexpr unsigned kSms = 132;                    // of an H200

struct Work {
  std::vector<unsigned> done, by;
  std::uint64_t blocks_begun = 0;
};

template <class... A>
Work run(unsigned workers, const char* kernel, LaunchConfig config, A... arguments) {
  Gpu gpu(workers, 600, "launch_control.ptx");
  const auto blocks = static_cast<std::size_t>(config.grid.count());
  auto *done = gpu.array<unsigned>(blocks), *by = gpu.array<unsigned>(blocks);
  std::fill_n(done, blocks, 0u);
  const LaunchResult r = gpu.run(kernel, config, done, by, arguments...);
  EXPECT_FALSE(r.fault) << r.fault->message;
  EXPECT_TRUE(r.warnings.empty());
  return {{done, done + blocks}, {by, by + blocks}, r.counts.warps_launched};
}

TEST(LaunchControl, EachBlockIsDoneOnceByOneThatFits) {
  for (unsigned workers : {1u, 2u, 5u}) {
    const Work w = run(workers, "steal", shape({10, 30, 4}, {32, 1, 1}, kMostShared), ~0u);
    for (unsigned k = 0; k < 1200; ++k) {
      EXPECT_EQ(w.done[k], 1u) << k;
      EXPECT_LT(w.by[k], kSms) << k;
    }
    EXPECT_EQ(w.blocks_begun, kSms);
  }
}

// A block that does not cancel the next one lets it begin. All of this is the same for any number of workers.
TEST(LaunchControl, BlocksThatNobodyCancelsBegin) {
  std::vector<Work> all;
  for (unsigned workers : {1u, 2u, 5u}) {
    all.push_back(run(workers, "steal", shape({1200, 1, 1}, {32, 1, 1}, kMostShared), 1u));
    const Work& w = all.back();
    EXPECT_TRUE(std::all_of(w.done.begin(), w.done.end(), [](unsigned n) { return n == 1; }));
    EXPECT_EQ(w.by, all[0].by);
    // In pairs: 132 lines of 9 or 10 blocks, of which the first, third ... begin.
    EXPECT_EQ(w.blocks_begun, 132u * 5);
  }
}

TEST(LaunchControl, AGridThatFitsHasNothingToCancel) {
  const Work w = run(2, "steal", shape({kSms, 1, 1}, {32, 1, 1}, kMostShared), ~0u);
  for (unsigned k = 0; k < kSms; ++k) EXPECT_EQ(w.by[k], k);
  EXPECT_EQ(w.blocks_begun, kSms);
}

TEST(LaunchControl, WholeClustersAreCancelled) {
  for (unsigned workers : {1u, 3u}) {
    LaunchConfig config = shape({8, 40, 3}, {32, 1, 1}, kMostShared);
    config.cluster = {2, 2, 1};
    const Work w = run(workers, "steal_clusters", config);
    for (unsigned k = 0; k < 960; ++k) {
      EXPECT_EQ(w.done[k], 1u) << k;
      // The block at the same place of its cluster does the work.
      EXPECT_EQ(w.by[k] % 2, k % 2);
      EXPECT_EQ(w.by[k] / 8 % 2, k / 8 % 2);
    }
    EXPECT_EQ(std::set(w.by.begin(), w.by.end()).size(), kSms);
    EXPECT_EQ(w.blocks_begun, kSms);
  }
}

TEST(LaunchControl, OtherOrders) {
  for (const char* order : {"reverse", "interleaved", "random:3"}) {
    SCOPED_TRACE(order);
    Gpu gpu(1, 600, "launch_control.ptx");
    gpu.device->set_schedule(*read_schedule(order), false);
    auto *done = gpu.array<unsigned>(600), *by = gpu.array<unsigned>(600);
    std::fill_n(done, 600, 0u);
    ASSERT_FALSE(gpu.run("steal", shape({600, 1, 1}, {32, 1, 1}, kMostShared), done, by, ~0u).fault);
    for (unsigned k = 0; k < 600; ++k) EXPECT_EQ(done[k], 1u) << k;
  }
}

TEST(LaunchControl, MisuseIsReported) {
  Gpu gpu(1, 600, "launch_control.ptx");
  auto* out = gpu.array<unsigned>(1);
  const LaunchResult right = gpu.run("misuse", shape({1, 1, 1}, {1, 1, 1}), out, 2u);
  EXPECT_TRUE(right.warnings.empty());
  EXPECT_EQ(*out, 2u);  // not cancelled
  const LaunchResult index = gpu.run("misuse", shape({1, 1, 1}, {1, 1, 1}), out, 0u);
  ASSERT_EQ(index.warnings.size(), 1u);
  EXPECT_EQ(index.warnings[0].kind, FaultKind::launch_control);
  EXPECT_NE(index.warnings[0].message.find("block index of a request that failed"), std::string::npos);
  const LaunchResult again = gpu.run("misuse", shape({1, 1, 1}, {1, 1, 1}), out, 1u);
  ASSERT_EQ(again.warnings.size(), 1u);
  EXPECT_NE(again.warnings[0].message.find("after it has seen that a request failed"), std::string::npos);
}

}  // namespace
}  // namespace warpgrind::device
