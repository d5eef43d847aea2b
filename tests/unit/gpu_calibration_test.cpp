// Files of `warpgrind calibrate`: reading, and merging into a GPU model.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "gpu/calibration.h"
#include "gpu/gpu_model.h"

namespace warpgrind {
namespace {

constexpr const char* kMeasured =
    R"({"format": "warpgrind-calibration 1", "measured": true, "name": "NVIDIA H200", "sm_mhz_before": 1979.6,
        "driver_version": 13000, "figures": [{"name": "block_ns", "value": 0.612345678, "unit": "ns"},
                                             {"name": "dram_read_gbps", "value": 4651.7, "unit": "GB/s"}]})";

TEST(Calibration, IsRead) {
  const auto c = read_calibration(kMeasured, "x.json");
  ASSERT_TRUE(c.ok());
  EXPECT_TRUE(c->measured);
  EXPECT_EQ(c->gpu, "NVIDIA H200");
  ASSERT_EQ(c->figures.size(), 2u);
  EXPECT_STREQ(c->figures[0].figure->name, "block_ns");
}

// The stored calibration of an H200: it has all figures that a single GPU can measure, and agrees with the model.
TEST(Calibration, StoredRunOfAnH200) {
  const auto text = read_whole(WARPGRIND_TESTS "/../lab/results/h200/calibration.json");
  ASSERT_TRUE(text.has_value());
  const auto c = read_calibration(*text, "calibration.json");
  ASSERT_TRUE(c.ok()) << c.error().message;
  EXPECT_TRUE(c->measured);
  EXPECT_GT(c->figures.size(), timing_figures().size() - 8);
  const TimingConstants& model = (*find_gpu_model(c->gpu))->timing;
  for (const Calibration::Figure& f : c->figures)
    for (const auto same :
         {&TimingConstants::block_ns, &TimingConstants::dram_read_gbps, &TimingConstants::dram_copy_gbps,
          &TimingConstants::fp64_lanes, &TimingConstants::hot_atomic_ns})
      EXPECT_TRUE(f.figure->value != same || std::abs(f.value / (model.*same) - 1) < 0.05) << f.figure->name;
}

TEST(Calibration, WhatIsNoneSaysSo) {
  EXPECT_FALSE(read_calibration("{}", "x.json").ok());
  EXPECT_FALSE(read_calibration("", "x.json").ok());
  const auto other = read_calibration(
      R"({"format": "warpgrind-calibration 1", "figures": [{"name": "block_ns", "value": 1, "unit": "us"}]})",
      "x.json");
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.error().message.find("block_ns"), std::string::npos);
}

// Only measured figures change, and the result is a model that --gpu accepts.
TEST(Calibration, EntersAModel) {
  const auto text = with_calibration(gpu_model_text("t4"), "t4", *read_calibration(kMeasured, "x.json"), "2026-11-23");
  ASSERT_TRUE(text.ok());
  const std::string path = (std::filesystem::path(testing::TempDir()) / "calibrated.json").string();
  std::ofstream(path) << *text;
  const auto after = find_gpu_model(path);
  ASSERT_TRUE(after.ok()) << after.error().message;
  const GpuModel& before = **find_gpu_model("t4");
  EXPECT_EQ((*after)->timing_measured_on, "NVIDIA H200, CUDA 13.0, SM 1980 MHz, 2026-11-23");
  EXPECT_DOUBLE_EQ((*after)->timing.block_ns, 0.6123);
  EXPECT_DOUBLE_EQ((*after)->timing.dram_read_gbps, 4652);
  for (std::size_t i = 0; i < timing_figures().size(); ++i) {
    const TimingFigure& f = timing_figures()[i];
    const bool measured = f.value == &TimingConstants::block_ns || f.value == &TimingConstants::dram_read_gbps;
    EXPECT_EQ((*after)->timing_sources[i].origin == TimingOrigin::measured, measured) << f.name;
    EXPECT_TRUE(measured || (*after)->timing.*f.value == before.timing.*f.value) << f.name;
  }
  EXPECT_EQ((*after)->sm_count, before.sm_count);
  EXPECT_EQ((*after)->sources, before.sources);
  std::filesystem::remove(path);
}

TEST(Calibration, AFileThatIsNoModelSaysWhere) {
  const std::string path = (std::filesystem::path(testing::TempDir()) / "no_model.json").string();
  std::ofstream(path) << "{}";
  const auto model = find_gpu_model(path);
  ASSERT_FALSE(model.ok());
  EXPECT_NE(model.error().message.find("no_model.json"), std::string::npos);
  EXPECT_FALSE(find_gpu_model("/nowhere/at_all.json").ok());
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace warpgrind
