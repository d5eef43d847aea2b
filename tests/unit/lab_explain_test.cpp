// What the lab says about a rung agrees with the times and counts that its tables print.
#include <gtest/gtest.h>

#include <tuple>

#include "lab/derive.h"
#include "lab/explain.h"
#include "lab/table.h"
#include "lab/topic.h"

namespace warpgrind::lab {
namespace {

Row counted(const std::string& rung, double us, double low = 0, double high = 0) {
  Row r;
  r.rung = rung;
  r.role = "rung";
  r.size_text = "1024";
  r.type = "float";
  r.origin = "estimated";
  r.verified = true;
  r.gpu = Timing{us, us, us, 1};
  r.derived.time_us = us;
  r.metrics[MetricId::time].value = us * 1e3;
  r.metrics[MetricId::time_low].value = (low > 0 ? low : us) * 1e3;
  r.metrics[MetricId::time_high].value = (high > 0 ? high : us) * 1e3;
  return r;
}

void loads(Row& row, double requests, double sectors, double used_percent) {
  row.metrics[MetricId::global_ld_requests].value = requests;
  row.metrics[MetricId::global_ld_sectors].value = sectors;
  row.metrics[MetricId::global_ld_efficiency].value = used_percent;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// An estimate that is too close to rank still has the times that the table prints: 1.39 times as fast is not the same.
TEST(LabExplain, TimesAreThoseOfTheTable) {
  Row before = counted("plain", 43.06, 33, 57), after = counted("tree", 30.94, 26.7, 40.9);
  before.metrics[MetricId::inst].value = 16.8e6;
  after.metrics[MetricId::inst].value = 14e6;
  const std::string text = explain(before, after);
  EXPECT_TRUE(has(text, "against plain: ")) << text;
  EXPECT_TRUE(has(text,
                  "Time 30.94 us instead of 43.06 us, too close to rank for an estimate "
                  "(26.7 to 40.9 us and 33 to 57 us)"))
      << text;
  EXPECT_FALSE(has(text, "same")) << text;
}

TEST(LabExplain, ARungThatDoesMoreCanBeFaster) {
  Row before = counted("graph", 16.3), after = counted("barrier", 14);
  before.metrics[MetricId::inst].value = 1e6;
  after.metrics[MetricId::inst].value = 2e6;
  EXPECT_TRUE(has(explain(before, after), "faster than graph by the estimate, although it does more: "))
      << explain(before, after);
  EXPECT_TRUE(has(explain(after, before), "slower than barrier by the estimate, although: ")) << explain(after, before);
  after.derived.time_us = 16.3;
  after.metrics[MetricId::time].value = 16300;
  EXPECT_TRUE(has(explain(before, after), "does more than graph: ")) << explain(before, after);
  EXPECT_TRUE(has(explain(before, after), "Time stays 16.3 us")) << explain(before, after);
}

// A ratio that grew is no reason for more requests.
TEST(LabExplain, MoreRequestsHaveNoReason) {
  Row before = counted("two", 6), after = counted("four", 7.4);
  loads(before, 192, 512, 300);
  loads(after, 640, 2304, 56);
  before.derived.cgma = 1.33;
  after.derived.cgma = 1.60;
  const std::string text = explain(before, after);
  EXPECT_FALSE(has(text, "since")) << text;
  EXPECT_TRUE(has(text, "does more than two: ")) << text;
  loads(after, 96, 512, 300);
  after.derived.cgma = 1;
  before.derived.cgma = 0.67;
  EXPECT_TRUE(has(explain(before, after),
                  "96 global load requests instead of 192, since each loaded value is used for "
                  "1 operation, not 0.67"))
      << explain(before, after);
}

// "8 sectors instead of 8 and uses 100 % instead of 100 %" says nothing.
TEST(LabExplain, OnlyWhatDiffersIsNamed) {
  Row before = counted("a", 5), after = counted("b", 6);
  loads(before, 8, 64, 100);
  loads(after, 16, 128, 50);
  EXPECT_TRUE(has(explain(before, after),
                  "a load request uses 50 % of its sectors' bytes instead of 100 %: 128 "
                  "sectors, not 64"))
      << explain(before, after);
  loads(after, 8, 128, 100);
  EXPECT_TRUE(has(explain(before, after), "a load request touches 16 sectors instead of 8: 128 sectors, not 64"))
      << explain(before, after);
}

TEST(LabExplain, FewerLaunchesAreAReason) {
  Row before = counted("two launches", 9.8), after = counted("one launch", 8.3);
  before.metrics[MetricId::launches].value = 2;
  after.metrics[MetricId::launches].value = 1;
  EXPECT_TRUE(has(explain(before, after), "1 launch instead of 2")) << explain(before, after);
}

// Two GPUs that are slower than one have a total below 1, whatever they gained over their own first rung.
TEST(LabDerive, ParametersAreStepsOfOneLadder) {
  TopicResult t;
  t.topic = "several GPUs";
  for (const auto& [rung, gpus, us] : {std::tuple("one", 1, 79.0), std::tuple("copies", 2, 161.0),
                                       std::tuple("graph", 2, 107.0), std::tuple("graph", 4, 118.0)}) {
    t.rows.push_back(counted(rung, us));
    t.rows.back().parameters = {{"devices", gpus}};
  }
  derive(t, {});
  EXPECT_NEAR(t.rows[2].derived.step, 161.0 / 107, 1e-9);
  EXPECT_NEAR(t.rows[2].derived.cumulative, 79.0 / 107, 1e-9);
  EXPECT_NEAR(t.rows[3].derived.cumulative, 79.0 / 118, 1e-9);
}

// 66 operations an access at 4,814 GB/s would be 79,436 GFLOP/s: the units do 66,900.
TEST(LabDerive, NoCeilingIsAboveThePeak) {
  TopicResult t;
  t.rows = {counted("many operations", 4)};
  Limits limits;
  limits.dram_gbs = 4814;
  limits.fp32_gflops = 66900;
  t.rows[0].metrics[MetricId::cgma_loads].value = 66;
  derive(t, limits);
  EXPECT_EQ(t.rows[0].derived.cgma_ceiling_gflops, 66900);
  t.rows[0].metrics[MetricId::cgma_loads].value = 1;
  derive(t, limits);
  EXPECT_EQ(t.rows[0].derived.cgma_ceiling_gflops, 4814 / 4.0);
}

// The large size has two types: the speed-up is between rungs of one.
TEST(EndsOfLadder, ComparesRungsOfOneProblem) {
  TopicResult t;
  t.topic = "products";
  for (const auto& [rung, type, us] : {std::tuple("plain", "double", 100.0), std::tuple("tiled", "double", 50.0),
                                       std::tuple("tiled", "float", 20.0)}) {
    t.large.push_back(counted(rung, us));
    t.large.back().type = type;
  }
  LabResult all;
  all.topics = {t};
  const std::string text = summary_text(all);
  EXPECT_TRUE(has(text, "2.00  tiled")) << text;
  EXPECT_FALSE(has(text, "5.00")) << text;
}

TEST(LabTopics, AreInTheOrderOfTheChapters) {
  std::vector<Topic> topics(4);
  const char* names[] = {"banks", "other", "timing", "vecadd"};
  for (std::size_t i = 0; i < topics.size(); ++i) topics[i].name = names[i];
  sort_by_chapter(topics, {"vecadd", "timing", "banks"});
  std::string order;
  for (const Topic& t : topics) order += t.name + " ";
  EXPECT_EQ(order, "vecadd timing banks other ");
}

}  // namespace
}  // namespace warpgrind::lab
