// Occupancy of an SM, and the limits of a launch.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "gpu/launch_limits.h"
#include "gpu/occupancy.h"
#include "h200_data.h"

namespace warpgrind {
namespace {

TEST(Occupancy, EveryLaunchShapeMeasuredOnAnH200) {
  const GpuModel& h200 = **find_gpu_model("h200");
  int rows = 0;
  for (const test::CsvRow& row : test::read_h200("occupancy.csv")) {
    const auto n = [&](const char* key) { return std::stoull(row.at(key)); };
    BlockResources block;
    block.threads = static_cast<std::uint32_t>(n("block"));
    block.registers_per_thread = static_cast<std::uint32_t>(n("registers"));
    block.static_shared = n("static");
    block.dynamic_shared = n("dynamic");
    const Occupancy o = occupancy(h200, block);
    const std::string what =
        fmt::format("block {} registers {} shared {}", n("block"), n("registers"), n("static") + n("dynamic"));
    EXPECT_EQ(o.registers_allocated_per_thread, n("registers_allocated")) << what;
    EXPECT_EQ(o.shared_allocated_per_block, n("shared_allocated")) << what;
    EXPECT_EQ(o.limit_blocks, n("limit_blocks")) << what;
    EXPECT_EQ(o.limit_warps, n("limit_warps")) << what;
    EXPECT_EQ(o.limit_registers, n("limit_registers")) << what;
    EXPECT_EQ(o.shared_config, n("config")) << what;
    EXPECT_EQ(o.limit_shared, n("limit_shared")) << what;
    EXPECT_NEAR(o.percent, std::stod(row.at("percent")), 0.006) << what;
    ++rows;
  }
  EXPECT_GT(rows, 100);
}

TEST(Occupancy, NamesTheLimiter) {
  const GpuModel& h200 = **find_gpu_model("h200");
  EXPECT_EQ(occupancy(h200, {.threads = 1024, .registers_per_thread = 32}).limiter, OccupancyLimiter::warps);
  EXPECT_EQ(occupancy(h200, {.threads = 256, .registers_per_thread = 128}).limiter, OccupancyLimiter::registers);
  EXPECT_EQ(occupancy(h200, {.threads = 32, .registers_per_thread = 16}).limiter, OccupancyLimiter::blocks);
  EXPECT_EQ(occupancy(h200, {.threads = 128, .registers_per_thread = 16, .dynamic_shared = 65536}).limiter,
            OccupancyLimiter::shared_memory);
  EXPECT_EQ(occupancy(h200, {.threads = 1024, .registers_per_thread = 128}).limiter, OccupancyLimiter::does_not_fit);
  EXPECT_EQ(occupancy(h200, {.threads = 2048}).blocks_per_sm, 0u);
}

// CUDA's manual: the next larger supported capacity. It is a hint, so one block must always fit.
TEST(Occupancy, PreferredCarveOut) {
  const GpuModel& h200 = **find_gpu_model("h200");
  const BlockResources block{.threads = 64, .registers_per_thread = 16, .dynamic_shared = 8192};
  const auto carveout = [&](int percent) { return preferred_carveout(h200, percent, block); };
  EXPECT_EQ(carveout(-1), 0u);
  EXPECT_EQ(carveout(0), 16384u);  // 8192 and the driver's 1024
  EXPECT_EQ(carveout(14), 32768u);
  EXPECT_EQ(carveout(15), 65536u);
  EXPECT_EQ(carveout(100), 233472u);
  EXPECT_EQ(preferred_carveout(**find_gpu_model("k40c"), 50, block), 32768u);
  EXPECT_EQ(occupancy(**find_gpu_model("k40c"), block).shared_config, 49152u);  // the default
  EXPECT_EQ(preferred_carveout(**find_gpu_model("p100"), 50, block), 0u);       // its L1 is separate
  BlockResources limited = block;
  limited.shared_carveout = carveout(14);
  EXPECT_EQ(occupancy(h200, limited).blocks_per_sm, 3u);
  limited.shared_carveout = carveout(100);
  EXPECT_EQ(occupancy(h200, limited).blocks_per_sm, 25u);
}

TEST(LaunchLimits, AreNamed) {
  const GpuModel& h200 = **find_gpu_model("h200");
  const auto problem = [&](Dim3 grid, Dim3 block) { return shape_problem(h200, grid, block); };
  EXPECT_EQ(problem({1, 1, 1}, {1024, 1, 1}), "");
  EXPECT_EQ(problem({2147483647, 65535, 65535}, {1, 1, 64}), "");
  EXPECT_EQ(problem({1, 1, 1}, {2048, 1, 1}), "2048 threads a block, at most 1024");
  EXPECT_EQ(problem({1, 1, 1}, {1, 1, 65}), "65 threads a block in z, at most 64");
  EXPECT_EQ(problem({1, 65536, 1}, {1, 1, 1}), "65536 blocks in y, at most 65535");
  EXPECT_EQ(problem({1, 0, 1}, {1, 1, 1}), "a grid without blocks");
  EXPECT_EQ(problem({1, 1, 1}, {1, 1, 0}), "a block without threads");
  // Products that wrap to a small number.
  EXPECT_EQ(problem({1, 1, 1}, {1u << 31, 1u << 31, 4}), "4611686018427387904 threads a block, at most 1024");
  EXPECT_EQ(problem({1u << 31, 1u << 31, 4}, {1, 1, 1}), "2147483648 blocks in x, at most 2147483647");
}

TEST(Occupancy, OlderGpus) {
  // G80: 8192 registers, 768 threads; 256 threads with 10 registers: 3 blocks, with 11: 2 (CUDA programming course).
  const GpuModel& g80 = **find_gpu_model("g80");
  EXPECT_EQ(occupancy(g80, {.threads = 256, .registers_per_thread = 10}).blocks_per_sm, 3u);
  EXPECT_EQ(occupancy(g80, {.threads = 256, .registers_per_thread = 11}).blocks_per_sm, 2u);
  EXPECT_DOUBLE_EQ(occupancy(g80, {.threads = 256, .registers_per_thread = 10}).percent, 100);
  const GpuModel& k40 = **find_gpu_model("k40c");
  EXPECT_EQ(occupancy(k40, {.threads = 1024, .registers_per_thread = 32}).blocks_per_sm, 2u);
  EXPECT_EQ(occupancy(k40, {.threads = 64, .registers_per_thread = 16}).blocks_per_sm, 16u);
  EXPECT_EQ(occupancy(k40, {.threads = 256, .registers_per_thread = 16, .static_shared = 16384}).blocks_per_sm, 3u);
}

}  // namespace
}  // namespace warpgrind
