// Text reports of profiles: terminal pages, differences, lists of GPUs, number formats.
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "report/diff.h"
#include "report/format.h"
#include "report/gpus.h"
#include "report/terminal.h"
#include "results/collect.h"

namespace warpgrind::report {
namespace {

using results::MetricId;

// The naive transpose of one 32 x 32 tile: a warp loads a row and stores a column.
results::Profile transpose(const char* gpu) {
  const GpuModel& model = **find_gpu_model(gpu);
  events::KernelFacts facts;
  events::LaunchCounts counts;
  const auto add = [&](events::SiteKind kind, StateSpace space, int stride) {
    std::int64_t offsets[kWarpSize];
    for (unsigned l = 0; l < kWarpSize; ++l) offsets[l] = std::int64_t{l} * stride;
    events::Site s;
    s.kind = kind;
    s.space = space;
    s.instruction = static_cast<std::uint32_t>(facts.sites.size());
    facts.sites.push_back(s);
    events::SiteCounts& c = counts.sites.emplace_back();
    const AccessType type = kind == events::SiteKind::load ? AccessType::load : AccessType::store;
    c.requests = 32768;
    c.lanes = 32 * c.requests;
    if (space == StateSpace::shared) {
      c.shared.add(shared_cost(model.rules, type, offsets, kFullMask, 4), c.requests);
      c.shared_requests = c.requests;
      c.shared_lanes = c.lanes;
    } else {
      c.global.add(global_cost(model.rules, type, offsets, kFullMask, 4), c.requests);
      c.global_requests = c.requests;
      c.global_lanes = c.lanes;
    }
  };
  add(events::SiteKind::load, StateSpace::global, 4);
  add(events::SiteKind::store, StateSpace::global, 4096);
  add(events::SiteKind::load, StateSpace::shared, 128);
  events::BlockFacts block;
  block.by_class[static_cast<unsigned>(events::InstructionClass::integer)] = 12;
  block.by_class[static_cast<unsigned>(events::InstructionClass::load_store)] = 3;
  facts.blocks.push_back(block);
  counts.blocks.push_back({32768, 32768 * 32});
  results::LaunchRecord r;
  r.name = "transposeNaive(float *, const float *, int)";
  r.mangled_name = "t";
  r.shape.model = &model;
  r.shape.grid = {32, 32, 1};
  r.shape.block = {32, 8, 1};
  r.shape.registers = 16;
  r.shape.registers_from_binary = true;
  r.facts = &facts;
  r.counts = &counts;
  timing::LaunchWork work;
  work.blocks = 1024;
  work.warps_per_block = work.resident_blocks = 8;
  work.instructions = 15;
  work.path_700 = 900;
  work.l2_read_sectors = work.read_sectors = work.l2_write_sectors = work.write_sectors = 131072;
  r.estimate = timing::estimate_kernel(*r.shape.model, work);
  results::Collector collector(false);
  collector.add(r);
  collector.add_transfer("HtoD", "pageable", 4 << 20, 230000);
  return collector.profile();
}

int widest(const std::string& text) {
  int most = 0;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) most = std::max(most, static_cast<int>(line.size()));
  return most;
}

TEST(Terminal, KernelFitsEightyColumnsAndSaysOrigins) {
  const results::Profile p = transpose("h200");
  const std::string text = profile_text(p, {});
  if (std::getenv("WARPGRIND_SHOW") != nullptr) std::fputs(text.c_str(), stdout);
  EXPECT_LE(widest(text), 80) << text;
  EXPECT_NE(text.find("transposeNaive"), std::string::npos);
  EXPECT_NE(text.find("1,048,576"), std::string::npos);  // 32 sectors x 32768 stores
  EXPECT_NE(text.find("32.00"), std::string::npos);
  EXPECT_NE(text.find("exact"), std::string::npos);
  EXPECT_NE(text.find("estimated"), std::string::npos);
  EXPECT_EQ(text.find("this GPU's rule"), std::string::npos);
  EXPECT_EQ(text.find('\033'), std::string::npos);
  EXPECT_NE(profile_text(p, {.colour = true}).find('\033'), std::string::npos);
}

TEST(Terminal, SeveralLaunchesAreASumAndAdviceHasBothTimes) {
  results::Profile p = transpose("h200");
  EXPECT_EQ(profile_text(p, {}).find(" launches ("), std::string::npos);
  p.kernels[0].launches = 3;
  results::Advice& a = p.kernels[0].advice.emplace_back();
  a.title = "Bank conflicts";
  a.estimated_gain = 0.41;
  a.time_ns = 8970;
  a.without_cause_ns = 5320;
  const std::string text = profile_text(p, {});
  EXPECT_NE(text.find(" us in 3 launches"), std::string::npos) << text;
  EXPECT_NE(text.find("Bank conflicts (8.97 us -> 5.32 us, 41 % less, estimated)"), std::string::npos) << text;
  EXPECT_LE(widest(text), 80) << text;
  a.time_ns = 0;  // files of earlier versions
  EXPECT_NE(profile_text(p, {}).find("up to 41 % of the time"), std::string::npos);
}

TEST(Terminal, OldGpusShowTheirTransactions) {
  const std::string text = profile_text(transpose("g80"), {});
  if (std::getenv("WARPGRIND_SHOW") != nullptr) std::fputs(text.c_str(), stdout);
  EXPECT_LE(widest(text), 80) << text;
  EXPECT_NE(text.find("this GPU's rule"), std::string::npos);
}

TEST(Diff, OnlyEstimatesMayRiseALittle) {
  Change c;
  c.rise = Direction::worse;
  c.before = 100;
  c.after = 101;
  for (const Origin origin : {Origin::exact, Origin::modelled, Origin::estimated}) {
    c.origin = origin;
    EXPECT_EQ(c.worse(), origin != Origin::estimated) << name(origin);
  }
}

// The same kernel in a file of another name, one line further down, and one without line information.
TEST(Diff, LinesOfAFileWithAnotherName) {
  const auto profile = [](const std::string& file, std::uint32_t line, double inst) {
    results::Profile p;
    p.gpu = "NVIDIA H200";
    results::KernelProfile& k = p.kernels.emplace_back();
    k.name = k.mangled_name = "k";
    const auto add = [&k](const std::string& in, std::uint32_t at, double n) {
      results::LineProfile& l = k.lines.emplace_back();
      l.file = in;
      l.line = at;
      l.metrics[MetricId::site_inst] = {n, "inst", Origin::exact, ""};
    };
    add(file, line, inst);
    add("/src/both.cuh", 7, 5);
    results::KernelProfile& ptx = p.kernels.emplace_back();
    ptx.name = ptx.mangled_name = "without_lines";
    results::SiteProfile& s = ptx.sites.emplace_back();
    s.ptx_line = 92;
    s.metrics[MetricId::site_inst] = {8, "inst", Origin::exact, ""};
    const std::string text = line == 3 ? "a\nb\nc\n" : "new\na\nb\nc\n";
    p.sources.push_back({file, text, "", false});
    return p;
  };
  const auto same = compare(profile("/src/old.cu", 3, 9), profile("/src/renamed.cu", 4, 9), {});
  ASSERT_TRUE(same);
  ASSERT_EQ(same->kernels.size(), 2u);
  EXPECT_TRUE(same->kernels[0].lines.empty());
  EXPECT_TRUE(same->kernels[1].lines.empty());
  const auto more = compare(profile("/src/old.cu", 3, 9), profile("/src/renamed.cu", 4, 10), {});
  ASSERT_TRUE(more);
  ASSERT_EQ(more->kernels[0].lines.size(), 1u);
  EXPECT_EQ(more->kernels[0].lines[0].before, 3u);
  EXPECT_EQ(more->kernels[0].lines[0].after, 4u);
}

TEST(Terminal, FindingSaysWhatWhereAndWhatToDo) {
  results::Finding f;
  f.kind = "error";
  f.message = "write of 4 bytes is 400 bytes past the end of a 4096-byte allocation";
  f.advice = "check the index against the array's size";
  f.kernel = "fill(int *, int)";
  f.file = "fill.cu";
  f.line = 7;
  f.ptx_line = 31;
  f.text = "st.global.u32 [%rd4], %r1;";
  f.block = {3, 0, 0};
  f.thread = {100, 0, 0};
  const std::string text = finding_text(f, {});
  EXPECT_EQ(text,
            "warpgrind: error: write of 4 bytes is 400 bytes past the end of a 4096-byte allocation\n"
            "  kernel  fill(int *, int)\n"
            "  source  fill.cu:7\n"
            "  PTX     line 31: st.global.u32 [%rd4], %r1;\n"
            "  who     block (3, 0, 0), thread (100, 0, 0)\n"
            "  do      check the index against the array's size\n");
}

TEST(Gpus, ListAndFigures) {
  const std::string list = gpus_text();
  if (std::getenv("WARPGRIND_SHOW") != nullptr) std::fputs((list + gpu_text(**find_gpu_model("g80"))).c_str(), stdout);
  EXPECT_LE(widest(list), 80);
  // id, name, compute capability, SMs, MHz, GiB, GB/s; figures measured, published, derived.
  EXPECT_TRUE(std::regex_search(list, std::regex(R"(h200 +H200 +9\.0 +132 +1980 +140\.4 +4814 +\d+ +- +\d+\n)")))
      << list;
  EXPECT_TRUE(std::regex_search(list, std::regex(R"(rtx5090 +RTX 5090 +12\.0 +170 +2407 +31\.3 +1792 +- +2 +\d+\n)")))
      << list;
  EXPECT_TRUE(std::regex_search(list, std::regex(R"(rtxpro6000 +RTX PRO 6000 +12\.0)"))) << list;
  const std::string one = gpu_text(**find_gpu_model("gtx280"));
  EXPECT_NE(one.find("141.7 GB/s = 132.0 GiB/s"), std::string::npos) << one;
  EXPECT_NE(one.find("1107 MHz x 2 transfers a clock x 512 bit / 8"), std::string::npos) << one;
}

TEST(Format, Numbers) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(grouped(-1234), "-1,234");
  EXPECT_EQ(with_bytes(4096), "4.0 KiB");
  EXPECT_EQ(with_time(1500), "1.50 us");
  EXPECT_EQ(right("a", 3), "  a");
  EXPECT_EQ(left("é", 3), "é  ");
}

}  // namespace
}  // namespace warpgrind::report
