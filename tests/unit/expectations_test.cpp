// Expectations on counters: comparisons, units, arithmetic, kernel names, and errors.
#include "report/expectations.h"

#include <gtest/gtest.h>

#include "report/diff.h"
#include "report/kernel_names.h"
#include "report/line_matching.h"

namespace warpgrind::report {
namespace {

using results::MetricId;
using Outcome = ExpectationResult::Outcome;

results::Profile profile() {
  results::Profile p;
  results::KernelProfile& k = p.kernels.emplace_back();
  k.name = "void ns::transpose_naive<32>(float const*, float*, int)";
  k.mangled_name = "_Z15transpose_naive";
  k.metrics[MetricId::time] = {2000, "ns", Origin::estimated, ""};
  k.metrics[MetricId::global_st_sectors_per_request] = {32, "sector", Origin::exact, ""};
  k.metrics[MetricId::global_atom_sectors_per_request] = {0, "sector", Origin::exact, ""};
  k.metrics[MetricId::shared_conflicts] = {0, "", Origin::exact, ""};
  k.metrics[MetricId::global_ld_bytes] = {4096, "byte", Origin::exact, ""};
  k.metrics[MetricId::flop] = {1024, "flop", Origin::exact, ""};
  k.metrics[MetricId::occupancy] = {50, "%", Origin::exact, ""};
  k.metrics[MetricId::occupancy_limiter] = {0, "", Origin::exact, "registers"};
  return p;
}

Outcome outcome(const std::string& text) {
  auto e = parse_expectation(text);
  EXPECT_TRUE(e.ok()) << text << ": " << (e.ok() ? "" : e.error().message);
  if (!e) return Outcome::nothing_checked;
  const auto results = check({*e}, {profile()});
  EXPECT_FALSE(results.empty());
  return results.back().outcome;
}

TEST(Expectations, Compare) {
  EXPECT_EQ(outcome("global_store_sectors_per_request <= 32"), Outcome::passed);
  EXPECT_EQ(outcome("global_store_sectors_per_request < 32"), Outcome::failed);
  EXPECT_EQ(outcome("global_store_sectors_per_request > 31.5"), Outcome::passed);
  EXPECT_EQ(outcome("global_store_sectors_per_request >= 33"), Outcome::failed);
  EXPECT_EQ(outcome("shared_bank_conflicts == 0"), Outcome::passed);
  EXPECT_EQ(outcome("shared_bank_conflicts != 0"), Outcome::failed);
  EXPECT_EQ(outcome("4 >= global_store_sectors_per_request"), Outcome::failed);
  EXPECT_EQ(outcome("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum==0"), Outcome::passed);
}

TEST(Expectations, Units) {
  EXPECT_EQ(outcome("time < 2.1 us"), Outcome::passed);
  EXPECT_EQ(outcome("time < 2us"), Outcome::failed);
  EXPECT_EQ(outcome("time <= 0.002 ms"), Outcome::passed);
  EXPECT_EQ(outcome("global_load_bytes == 4 KiB"), Outcome::passed);
  EXPECT_EQ(outcome("global_load_bytes < 4.1 KB"), Outcome::passed);
  EXPECT_EQ(outcome("occupancy >= 50 %"), Outcome::passed);
  EXPECT_EQ(outcome("global_store_sectors_per_request <= 4 sectors"), Outcome::failed);
}

TEST(Expectations, Arithmetic) {
  EXPECT_EQ(outcome("flop / global_load_bytes == 0.25"), Outcome::passed);
  EXPECT_EQ(outcome("2 * (flop + 1) - 2 == 2048"), Outcome::passed);
  EXPECT_EQ(outcome("-flop < 0"), Outcome::passed);
  EXPECT_EQ(outcome("flop / shared_bank_conflicts < 1"), Outcome::nothing_checked);  // division by zero has no value
}

TEST(Expectations, Words) {
  EXPECT_EQ(outcome("occupancy_limiter == 'registers'"), Outcome::passed);
  EXPECT_EQ(outcome("occupancy_limiter != \"registers\""), Outcome::failed);
}

TEST(Expectations, Kernels) {
  EXPECT_EQ(outcome("transpose*: time > 0"), Outcome::passed);
  EXPECT_EQ(outcome("ns::transpose_naive<32>: time > 0"), Outcome::passed);
  EXPECT_EQ(outcome("ns::transpose_naive: time > 0"), Outcome::passed);
  EXPECT_EQ(outcome("transpose_naive: time > 0"), Outcome::passed);
  EXPECT_EQ(outcome("void ns::transpose_naive<32>(float const*, float*, int): time > 0"), Outcome::passed);
  EXPECT_EQ(outcome("_Z15*: time > 0"), Outcome::passed);
}

TEST(Expectations, NeverPassSilently) {
  EXPECT_EQ(outcome("reduce*: time > 0"), Outcome::nothing_checked);
  // Nsight prints 0 for a kernel without atomics. That is no value to compare with a limit.
  EXPECT_EQ(outcome("global_atomic_sectors_per_request <= 4"), Outcome::nothing_checked);
  const auto e = parse_expectation("time > 0");
  ASSERT_TRUE(e);
  const auto none = check({*e}, {});
  ASSERT_EQ(none.size(), 1u);
  EXPECT_TRUE(none[0].bad());
  EXPECT_NE(none[0].figures.find("no kernel ran"), std::string::npos);
}

struct Bad {
  const char *text, *message, *detail;
};
TEST(Expectations, SayWhatIsWrongAndWhere) {
  for (const Bad& bad :
       {Bad{"share_bank_conflicts == 0", "no metric is called \"share_bank_conflicts\"",
            "did you mean shared_bank_conflicts"},
        Bad{"time 5", "expected a comparison", "time 5\n         ^"},
        Bad{"time < 5 parsecs", "unknown unit \"parsecs\"", "time < 5 parsecs\n             ^~~~~~~"},
        Bad{"time < 5 KiB", "ns cannot be compared with byte", ""},
        Bad{"time + global_load_bytes < 5", "ns and byte cannot be added", ""}, Bad{"(time < 5", "not closed", ""},
        Bad{"occupancy_limiter < 3", "word", ""}, Bad{"occupancy_limiter < 'x'", "only be compared with == and !=", ""},
        Bad{"3 < 4", "no metric", ""}, Bad{"", "expected a metric", ""}, Bad{"k:", "expected a metric", ""},
        Bad{": time < 3", "no kernel before the colon", ""}, Bad{"time < 3 3", "expected the end", ""},
        Bad{"time < 'a", "not closed", ""}}) {
    const auto e = parse_expectation(bad.text);
    ASSERT_FALSE(e.ok()) << bad.text;
    EXPECT_NE(e.error().message.find(bad.message), std::string::npos) << e.error().message;
    EXPECT_NE(e.error().detail.find(bad.detail), std::string::npos) << e.error().detail;
  }
  EXPECT_FALSE(parse_expectation(std::string(100000, '(')).ok());
}

TEST(KernelNames, Short) {
  EXPECT_EQ(short_name("void ns::scale<4>(float*, int)"), "ns::scale<4>");
  EXPECT_EQ(short_name("copy(int)"), "copy");
  EXPECT_EQ(short_name("void (anonymous namespace)::f<(int)4, std::pair<int, int> >(int (*)(float))"),
            "f<(int)4, std::pair<int, int> >");
  EXPECT_EQ(short_name("_Z1fv"), "_Z1fv");
}

TEST(LineMatching, ByLongestCommonSubsequence) {
  EXPECT_EQ(match_lines("a\nb\nc\n", "a\nb\nc\n"), (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_EQ(match_lines("a\nb\nc\n", "a\nx\ny\nb\nc\n"), (std::vector<std::uint32_t>{1, 4, 5}));
  EXPECT_EQ(match_lines("a\nb\nc\nd\n", "a\nd\n"), (std::vector<std::uint32_t>{1, 0, 0, 2}));
  EXPECT_EQ(match_lines("a\nb\n", ""), (std::vector<std::uint32_t>{0, 0}));
  EXPECT_EQ(match_lines("q\na\nr\nb\ns\n", "t\na\nu\nb\nv\n"), (std::vector<std::uint32_t>{0, 2, 0, 4, 0}));
}

results::Profile profile_with(double time, double conflicts, std::uint32_t line, const std::string& source) {
  results::Profile p;
  p.gpu = "NVIDIA H200";
  p.sources.push_back({"k.cu", source, ""});
  results::KernelProfile& k = p.kernels.emplace_back();
  k.name = k.mangled_name = "k";
  k.metrics[MetricId::time] = {time, "ns", Origin::estimated, ""};
  k.metrics[MetricId::shared_conflicts] = {conflicts, "", Origin::exact, ""};
  results::SiteProfile& s = k.sites.emplace_back();
  s.kind = "load";
  s.file = "k.cu";
  s.line = line;
  s.metrics[MetricId::shared_conflicts] = {conflicts, "", Origin::exact, ""};
  return p;
}

TEST(Diff, MatchesMovedLines) {
  const auto d =
      compare(profile_with(1000, 0, 2, "a\nload\nb\n"), profile_with(1000, 31, 4, "a\nnew\nnew\nload\nb\n"), {});
  ASSERT_TRUE(d);
  ASSERT_EQ(d->kernels.size(), 1u);
  ASSERT_EQ(d->kernels[0].lines.size(), 1u);
  EXPECT_EQ(d->kernels[0].lines[0].before, 2u);
  EXPECT_EQ(d->kernels[0].lines[0].after, 4u);
  EXPECT_EQ(d->kernels[0].lines[0].text, "load");
  ASSERT_EQ(d->broken.size(), 1u);
}

TEST(Diff, EstimatesMayWobble) {
  const std::string source = "a\nload\n";
  EXPECT_TRUE(compare(profile_with(1000, 0, 2, source), profile_with(1049, 0, 2, source), {})->broken.empty());
  EXPECT_EQ(compare(profile_with(1000, 0, 2, source), profile_with(1051, 0, 2, source), {})->broken.size(), 1u);
  EXPECT_TRUE(compare(profile_with(1000, 5, 2, source), profile_with(500, 4, 2, source), {})->broken.empty());
}

TEST(Diff, Rules) {
  const auto a = profile_with(1000, 10, 2, ""), b = profile_with(1200, 12, 2, "");
  const auto broken = [&](const char* rule) {
    auto parsed = parse_change_rule(rule);
    EXPECT_TRUE(parsed.ok()) << rule;
    DiffOptions options;
    options.rules.push_back(*parsed);
    return compare(a, b, options)->broken.size();
  };
  EXPECT_EQ(broken("time > 20%"), 0u);
  EXPECT_EQ(broken("time > 19 %"), 1u);
  EXPECT_EQ(broken("time > 0.1 us"), 1u);
  EXPECT_EQ(broken("time > 0.3 us"), 0u);
  EXPECT_EQ(broken("shared_bank_conflicts > 1"), 1u);
  EXPECT_EQ(broken("shared_bank_conflicts > 2"), 0u);
  EXPECT_EQ(broken("other*: time > 50%"), 1u);  // nothing was checked
  EXPECT_EQ(broken("flop > 50%"), 1u);
  EXPECT_FALSE(parse_change_rule("time > flop").ok());
  EXPECT_FALSE(parse_change_rule("time + 1 > 3").ok());
  EXPECT_FALSE(parse_change_rule("occupancy_limiter == 'registers'").ok());
}

}  // namespace
}  // namespace warpgrind::report
