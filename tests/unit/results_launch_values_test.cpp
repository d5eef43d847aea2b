// Values kept from a launch: they are reused for equal launches, and for no others.
#include <gtest/gtest.h>

#include "gpu/gpu_model.h"
#include "results/launch_values.h"

namespace warpgrind::results {
namespace {

using counters::MetricId;

struct LaunchValuesTest : testing::Test {
  events::KernelFacts facts;
  events::LaunchCounts counts;
  counters::LaunchShape shape;
  LaunchValues values;

  LaunchValuesTest() {
    facts.sites.resize(1);
    counts.sites.resize(1);
    counts.warps_launched = 4;
    counts.sites[0].requests = counts.sites[0].global_requests = 4;
    counts.sites[0].global.sectors = 16;
    shape.model = *find_gpu_model("h200");
    shape.grid = {4, 1, 1};
    shape.block = {32, 1, 1};
  }
  double get(MetricId id) { return values.of(shape, facts, counts).values.get(id); }
};

TEST_F(LaunchValuesTest, SameAsWithoutThem) {
  const counters::Values own = counters::launch_values(shape, facts, counts);
  for (int launch = 0; launch < 2; ++launch)
    for (std::size_t i = 0; i < counters::kMetrics; ++i) {
      const auto id = static_cast<MetricId>(i);
      EXPECT_EQ(get(id), own.get(id)) << counters::row(id).name;
    }
}

TEST_F(LaunchValuesTest, OtherCounts) {
  EXPECT_EQ(get(MetricId::global_ld_sectors), 16);
  counts.sites[0].global.sectors = 17;
  EXPECT_EQ(get(MetricId::global_ld_sectors), 17);
  counts.warps_launched = 5;
  EXPECT_EQ(get(MetricId::warps_launched), 5);
  counts.caches.emplace();
  counts.caches->dram_read_bytes = 64;
  EXPECT_EQ(get(MetricId::dram_read), 64);
  counts.caches->dram_read_bytes = 96;
  EXPECT_EQ(get(MetricId::dram_read), 96);
}

TEST_F(LaunchValuesTest, OtherShape) {
  EXPECT_EQ(get(MetricId::grid_size), 4);
  shape.grid.x = 2;
  EXPECT_EQ(get(MetricId::grid_size), 2);
  shape.dynamic_shared = 100;
  EXPECT_EQ(get(MetricId::shared_dynamic), 100);
}

// A new kernel may have the address of an old one.
TEST_F(LaunchValuesTest, AnotherKernelAtTheSameAddress) {
  EXPECT_EQ(get(MetricId::global_ld_sectors), 16);
  facts.sites[0].kind = events::SiteKind::store;
  ++events::kernels_gone;
  EXPECT_EQ(get(MetricId::global_ld_sectors), 0);
  EXPECT_EQ(get(MetricId::global_st_sectors), 16);
}

}  // namespace
}  // namespace warpgrind::results
