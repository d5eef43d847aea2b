// Files of `warpgrind calibrate`: reading, and merging into a GPU model. GPU models in files of the user.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

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
  std::string missing;
  for (const TimingFigure& f : timing_figures())
    if (std::none_of(c->figures.begin(), c->figures.end(),
                     [&](const auto& have) { return have.figure->name == f.name; }))
      missing += std::string(" ") + f.name;
  EXPECT_GT(c->figures.size(), timing_figures().size() - 10)
      << "run lab/calibrate on an H200 and store its --json; figures that it does not have:" << missing;
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

// Text of the model `id` after `change` edited its JSON, written to a file and read as --gpu does.
template <class Change>
Result<const GpuModel*> changed(const char* id, const std::string& file, const Change& change) {
  auto json = nlohmann::json::parse(gpu_model_text(id));
  change(json);
  const std::string path = (std::filesystem::path(testing::TempDir()) / (file + ".json")).string();
  std::ofstream(path) << json;
  auto model = find_gpu_model(path);
  std::filesystem::remove(path);
  return model;
}

// A file without constants takes those of the rules. The reference is the measured GPU of the same generation whose
// bandwidth is nearest.
TEST(UserModel, MissingConstantsFollowFromRules) {
  const auto none = changed("h100", "no_constants", [](auto& j) { j["timing"] = {{"measured_on", ""}}; });
  ASSERT_TRUE(none.ok()) << none.error().message;
  const GpuModel& h100 = **find_gpu_model("h100");
  EXPECT_EQ((*none)->timing.next_launch_ns, h100.timing.next_launch_ns);
  EXPECT_EQ((*none)->timing_sources[0].origin, TimingOrigin::assumed);
  EXPECT_NE((*none)->timing_sources[0].from.find("the H100"), std::string::npos);

  // A constant of the file holds, and an older GPU starts from the H200.
  const auto some = changed("t4", "one_constant", [](auto& j) {
    j["timing"] = {{"measured_on", "here"}, {"block_ns", {{"value", 2}, {"unit", "ns"}, {"origin", "measured"}}}};
  });
  ASSERT_TRUE(some.ok()) << some.error().message;
  EXPECT_EQ((*some)->timing.block_ns, 2);
  EXPECT_EQ((*some)->timing.event_pair_ns, (**find_gpu_model("h200")).timing.event_pair_ns);
  EXPECT_EQ((*some)->timing.integer_latency_cycles, 4);
}

TEST(UserModel, ValuesOutsideTheirRangeAreRefused) {
  struct Case {
    std::string key;
    nlohmann::json value;
    std::string expected;
  };
  const Case cases[] = {
      {"sm_count", 0, R"("sm_count" must be from 1 to 65536, not 0)"},
      {"sm_count", -1, R"("sm_count" must be from 1 to 65536, not -1)"},
      {"sm_count", 1.5, R"("sm_count" must be a whole number)"},
      {"warp_allocation_granularity", 0, R"("warp_allocation_granularity" must be from 1 to 65536, not 0)"},
      {"register_allocation_unit", 0, R"("register_allocation_unit" must be from 1)"},
      {"max_warps_per_sm", 0, R"("max_warps_per_sm" must be from 1)"},
      {"sms_sharing_requests", 0, R"("sms_sharing_requests" must be from 1)"},
      {"sm_clock_mhz", 0, R"("sm_clock_mhz" must be from 1 to 1000000, not 0)"},
      {"achievable_bandwidth_fraction", 1.5, R"("achievable_bandwidth_fraction" must be from 0.01 to 1, not 1.5)"},
      {"max_block_dim", {1024, 0, 64}, R"("max_block_dim" must be from 1 to 65536, not 0)"},
  };
  for (const Case& c : cases) {
    const auto model = changed("h100", "range", [&](auto& j) { j[c.key] = c.value; });
    ASSERT_FALSE(model.ok()) << c.key;
    EXPECT_EQ(model.error().kind, ErrorKind::bad_input);
    EXPECT_NE(model.error().message.find("range.json: " + c.expected), std::string::npos) << model.error().message;
  }
  const auto banks = changed("h100", "banks", [](auto& j) { j["rules"]["banks"]["banks"] = 0; });
  ASSERT_FALSE(banks.ok());
  EXPECT_NE(banks.error().message.find(R"(banks.json.rules.banks: "banks" must be 16 or 32, not 0)"), std::string::npos)
      << banks.error().message;
}

// A constant that divides is never 0. Zero stands for a feature that the GPU lacks, where there is such a feature.
TEST(UserModel, ZeroTimingConstants) {
  const auto rate = changed("h100", "rate", [](auto& j) { j["timing"]["dram_read_gbps"]["value"] = 0; });
  ASSERT_FALSE(rate.ok());
  EXPECT_NE(rate.error().message.find(R"(rate.json.timing.dram_read_gbps: "value" must be from 1e-09 to 1e+18, not 0)"),
            std::string::npos)
      << rate.error().message;
  const auto no_link = changed("h100", "no_link", [](auto& j) {
    j["timing"]["peer_copy_gbps"] = {{"value", 0}, {"unit", "GB/s"}, {"origin", "assumed"}, {"from", "no link"}};
  });
  ASSERT_TRUE(no_link.ok()) << no_link.error().message;
  EXPECT_EQ((*no_link)->timing.peer_copy_gbps, 0);
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
