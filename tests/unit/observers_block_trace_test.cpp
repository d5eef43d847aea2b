// Trace of one block of the first launch.
#include <gtest/gtest.h>

#include "observers/block_trace.h"

namespace warpgrind::observers {
namespace {

TEST(BlockTrace, OneBlockOfTheFirstLaunch) {
  events::KernelFacts facts;
  facts.name = "k";
  facts.sites.emplace_back();
  facts.sites[0].function = "k";
  facts.sites[0].ptx_line = 9;
  events::Launch launch;
  launch.facts = &facts;
  launch.grid = {2, 1, 1};
  launch.block = {64, 1, 1};
  BlockTrace trace({0, nullptr, {1, 0, 0}, [](std::uint64_t) { return AllocationRange(4096, 8192); }});
  std::array<std::uint64_t, kWarpSize> addresses{};
  addresses.fill(5000);
  const auto access = [&](std::uint32_t block, std::uint32_t warp, LaneMask mask) {
    trace.on_access({&launch, 0, StateSpace::global, Dim3{block, 0, 0}, warp, mask, addresses}, 0);
  };
  for (int run = 0; run < 2; ++run) {  // the second launch is not traced
    trace.on_launch_begin(launch);
    access(0, 0, kFullMask);
    access(1, 0, kFullMask);
    trace.on_barrier({{&launch, 0, {1, 0, 0}, 0}}, 0);
    access(1, 1, 1);  // has not reached the barrier yet
    trace.on_barrier({{&launch, 0, {0, 0, 0}, 1}}, 0);
    trace.on_barrier({{&launch, 0, {1, 0, 0}, 1}}, 0);
    access(1, 1, 1);
    trace.on_launch_end(launch, {});
  }
  const Trace& t = trace.traces().at("k");
  ASSERT_EQ(t.events.size(), 3u);
  EXPECT_EQ(t.events[0].phase, 0u);
  EXPECT_EQ(t.events[1].phase, 0u);
  EXPECT_EQ(t.events[2].phase, 1u);
  EXPECT_EQ(t.events[2].warp, 1u);
  EXPECT_EQ(t.events[1].addresses[0], 5000u);
  EXPECT_EQ(t.events[1].addresses[1], 0u);
  EXPECT_EQ(t.events[0].allocation->first, 4096u);
  EXPECT_EQ(t.left_out, 0u);
}

TEST(BlockTrace, NoSuchBlockAndTooManyEvents) {
  events::KernelFacts facts;
  facts.name = "k";
  facts.sites.emplace_back();
  events::Launch launch;
  launch.facts = &facts;
  BlockTrace none({0, nullptr, {5, 0, 0}, [](std::uint64_t) { return std::nullopt; }});
  none.on_launch_begin(launch);
  EXPECT_TRUE(none.traces().empty());
  BlockTrace many({0, nullptr, {0, 0, 0}, [](std::uint64_t) { return std::nullopt; }});
  many.on_launch_begin(launch);
  const std::array<std::uint64_t, kWarpSize> addresses{};
  for (std::size_t i = 0; i < BlockTrace::kMostEvents + 7; ++i)
    many.on_access({&launch, 0, StateSpace::shared, Dim3{0, 0, 0}, 0, 1, addresses}, 0);
  EXPECT_EQ(many.traces().at("k").events.size(), BlockTrace::kMostEvents);
  EXPECT_EQ(many.traces().at("k").left_out, 7u);
}

}  // namespace
}  // namespace warpgrind::observers
