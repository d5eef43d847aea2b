// Profiles: sums over launches, JSON and CSV.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "results/collect.h"
#include "results/csv.h"
#include "results/json.h"

namespace warpgrind::results {
namespace {

Profile example() {
  events::KernelFacts facts;
  facts.files = {"copy.cu"};
  events::Site site;
  site.kind = events::SiteKind::load;
  site.line = 12;
  site.ptx_line = 34;
  site.function = "_Z4copyPf";
  site.text = "ld.global.f32 %f1, [%rd4];";
  facts.sites.push_back(site);
  events::LaunchCounts counts;
  std::int64_t offsets[kWarpSize];
  for (unsigned l = 0; l < kWarpSize; ++l) offsets[l] = std::int64_t{l} * 8;
  LaunchRecord record;
  record.mangled_name = "_Z4copyPf";
  record.name = "copy(float \"*\")";
  record.shape.model = *find_gpu_model("h200");
  record.shape.grid = {4, 2, 1};
  record.shape.block = {64, 1, 1};
  events::SiteCounts& c = counts.sites.emplace_back();
  c.global.add(global_cost(record.shape.model->rules, AccessType::load, offsets, kFullMask, 4), 16);
  c.global_requests = c.requests = 16;
  c.global_lanes = c.lanes = 512;
  record.facts = &facts;
  record.counts = &counts;
  timing::LaunchWork work;
  work.blocks = 8;
  work.warps_per_block = 2;
  work.resident_blocks = 32;
  record.work = work;
  record.estimate = timing::estimate_kernel(*record.shape.model, work);
  Collector collector(true);
  collector.add(record);
  record.id = 1;
  collector.add(record);
  collector.add_transfer("HtoD", "pinned", 4096, 6000);
  collector.add_transfer("HtoD", "pinned", 4096, 6000);
  Finding f;
  f.kind = "error";
  f.message = "a message";
  f.line = 7;
  f.notes = {"note"};
  collector.add_finding(f);
  Profile p = collector.profile();
  p.program = "./copy";
  p.gpu = "NVIDIA H200";
  return p;
}

TEST(Profile, EqualLaunchesHaveOneWork) {
  const Profile p = example();
  ASSERT_EQ(p.kernels.at(0).work.size(), 1u);
  EXPECT_EQ(p.kernels[0].work[0].launches, 2);
  const auto read = from_json(to_json(p), "example.json");
  ASSERT_TRUE(read);
  ASSERT_EQ(read->kernels.at(0).work.size(), 1u);
  EXPECT_EQ(read->kernels[0].work[0].work, p.kernels[0].work[0].work);
  EXPECT_TRUE(p.launches.at(0).work.empty());  // only sums have advice
}

TEST(Metrics, AreReadByIdAndKeepNamesThatTheTableLacks) {
  Metrics m;
  EXPECT_TRUE(m.empty());
  m[MetricId::site_inst] = {4, "inst", Origin::exact, ""};
  m[MetricId::time_limit].text = "latency";
  m.by_name()["a counter of another release"].value = 7;
  EXPECT_EQ(m.value(MetricId::site_inst), 4);
  EXPECT_EQ(m.by_name().at("inst_executed").unit, "inst");
  EXPECT_EQ(m.text(MetricId::time_limit), "latency");
  EXPECT_TRUE(m.has(MetricId::time_limit));
  EXPECT_EQ(m.find(MetricId::time), nullptr);
  EXPECT_EQ(m.value(MetricId::time), 0);
  EXPECT_EQ(m.text(MetricId::time), "");
  EXPECT_EQ(m.by_name().size(), 3u);
}

TEST(Metrics, RatiosDoNotAddUp) {
  for (const MetricId id : {MetricId::site_lanes, MetricId::site_nway, MetricId::site_efficiency,
                            MetricId::site_sectors_per_request, MetricId::l1_hit_rate})
    EXPECT_FALSE(adds_up(name(id))) << name(id);
  for (const MetricId id : {MetricId::site_inst, MetricId::site_sectors, MetricId::shared_excessive})
    EXPECT_TRUE(adds_up(name(id))) << name(id);
}

TEST(Results, LaunchesOfOneKernelAddUp) {
  const Profile p = example();
  ASSERT_EQ(p.kernels.size(), 1u);
  EXPECT_EQ(p.kernels[0].launches, 2u);
  EXPECT_EQ(p.kernels[0].metrics.value(MetricId::global_ld_requests), 32);
  EXPECT_EQ(p.kernels[0].metrics.value(MetricId::global_ld_sectors_per_request), 8);
  ASSERT_EQ(p.launches.size(), 2u);
  EXPECT_EQ(p.launches[1].first_id, 1u);
  EXPECT_EQ(p.launches[1].metrics.value(MetricId::global_ld_requests), 16);
  ASSERT_EQ(p.kernels[0].sites.size(), 1u);
  EXPECT_EQ(p.kernels[0].sites[0].metrics.value(MetricId::site_inst), 32);
  EXPECT_EQ(p.kernels[0].sites[0].file, "copy.cu");
  EXPECT_EQ(p.transfers.at(0).count, 2u);
}

TEST(Results, JsonHasTheDocumentedShape) {
  const auto j = nlohmann::json::parse(to_json(example()));
  EXPECT_EQ(j["format"], Profile::kFormatVersion);
  const auto& k = j["kernels"][0];
  EXPECT_EQ(k["name"], "copy(float \"*\")");
  EXPECT_EQ(k["launches"], 2);
  EXPECT_EQ(k["grid"], nlohmann::json({4, 2, 1}));
  const auto& m = k["metrics"]["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"];
  EXPECT_EQ(m["value"], 256);
  EXPECT_EQ(m["unit"], "sector");
  EXPECT_EQ(m["origin"], "exact");
  EXPECT_EQ(k["metrics"]["gpu__time_duration.sum"]["origin"], "estimated");
  EXPECT_EQ(k["sites"][0]["line"], 12);
}

TEST(Results, JsonReadsBack) {
  const Profile p = example();
  const Result<Profile> back = from_json(to_json(p), "p.json");
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(to_json(*back), to_json(p));
}

TEST(Results, JsonErrorsSayWhatIsWrong) {
  EXPECT_FALSE(from_json("[1, 2", "p.json").ok());
  EXPECT_FALSE(from_json("{}", "p.json").ok());
  const Result<Profile> newer = from_json(R"({"format": 99, "kernels": []})", "p.json");
  ASSERT_FALSE(newer.ok());
  EXPECT_NE(newer.error().message.find("99"), std::string::npos);
}

TEST(Results, CsvIsThatOfNsightCompute) {
  const std::string csv = to_csv(example());
  EXPECT_EQ(csv.substr(0, csv.find('\n')),
            R"("ID","Kernel Name","Block Size","Grid Size","Metric Name","Metric Unit","Metric Value")");
  EXPECT_NE(csv.find("\"0\",\"copy(float \"\"*\"\")\",\"(64, 1, 1)\",\"(4, 2, 1)\","
                     "\"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum\",\"sector\",\"128\"\n"),
            std::string::npos);
  EXPECT_NE(csv.find("\n\"1\","), std::string::npos);
}

}  // namespace
}  // namespace warpgrind::results
