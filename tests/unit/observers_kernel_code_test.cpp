// Counts by source line and machine instruction, and the flow graph of a kernel.
#include <gtest/gtest.h>

#include "observers/kernel_code.h"
#include "ptx/parser.h"
#include "results/json.h"

namespace warpgrind::observers {
namespace {

using results::MetricId;

// Line 20 of the kernel calls a function of lines 5 and 6, which is inlined.
constexpr const char* kModule = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) {
  .reg .b64 %rd<3>;
  .reg .b32 %r<3>;
  .reg .pred %p<2>;
  .loc 1 20 3
  ld.param.u64 %rd1, [p];
  .loc 1 5 3, function_name $L__info_string0, inlined_at 1 20 3
  mov.u32 %r1, %tid.x;
  setp.eq.u32 %p1, %r1, 0;
  .loc 1 6 3, function_name $L__info_string0, inlined_at 1 20 3
  @%p1 st.global.u32 [%rd1], %r1;
  .loc 1 21 1
  ret;
}
.file 1 "a.cu"
.section .debug_str {
$L__info_string0:
.b8 102, 0
}
)";

events::Launch launch_of(const events::KernelFacts& facts, const ptx::Module& module) {
  events::Launch launch;
  launch.facts = &facts;
  launch.module = &module;
  return launch;
}

double metric(const results::LineProfile& line, MetricId id) {
  return line.metrics.value(id);
}

struct LaunchedKernel {
  results::Profile profile;

  explicit LaunchedKernel(int launches) {
    auto module = ptx::parse(kModule, "test");
    EXPECT_TRUE(module.ok()) << (module.ok() ? "" : module.error().message + module.error().detail);
    events::KernelFacts facts;
    facts.name = "k";
    events::BlockFacts block;
    block.function = "k";
    block.instruction_count = 5;
    facts.blocks.push_back(block);
    facts.guards.push_back({3, 0, events::InstructionClass::load_store, 0});
    events::LaunchCounts counts;
    counts.blocks.push_back({4, 4 * 32});
    counts.guard_lanes.push_back(4);  // one lane a warp
    KernelCode code(0);
    for (int i = 0; i < launches; ++i) code.on_launch_end(launch_of(facts, **module), counts);
    results::KernelProfile& k = profile.kernels.emplace_back();
    k.name = k.mangled_name = "k";
    results::SiteProfile& site = k.sites.emplace_back();
    site.file = "a.cu";
    site.line = 6;
    site.ptx_line = 15;
    site.metrics[MetricId::site_inst] = {4, "inst", Origin::exact, ""};
    site.metrics[MetricId::theoretical_sectors] = {4, "sector", Origin::exact, ""};
    code.contribute(profile);
  }
};

TEST(KernelCode, EveryInstructionCountsAtItsOwnLine) {
  const LaunchedKernel f(2);
  const results::KernelProfile& k = f.profile.kernels[0];
  ASSERT_EQ(k.code.size(), 5u);
  EXPECT_EQ(k.code[3].line, 6u);
  ASSERT_EQ(k.code[3].inlined_at.size(), 1u);
  EXPECT_EQ(k.code[3].inlined_at[0].line, 20u);
  EXPECT_NE(k.code[3].text.find("st.global.u32"), std::string::npos);
  // Line 20 itself only loads a parameter, for which a GPU has no instruction.
  ASSERT_EQ(k.lines.size(), 3u);
  EXPECT_EQ(k.lines[0].line, 5u);
  EXPECT_EQ(metric(k.lines[0], MetricId::site_inst), 2 * 2 * 4);
  EXPECT_EQ(metric(k.lines[0], MetricId::line_thread_inst), 2 * 2 * 4 * 32);
  EXPECT_EQ(k.lines[1].line, 6u);
  EXPECT_EQ(metric(k.lines[1], MetricId::line_thread_inst), 2 * 4 * 32);
  EXPECT_EQ(metric(k.lines[1], MetricId::site_thread_inst), 2 * 4);  // the guard
  EXPECT_EQ(metric(k.lines[1], MetricId::theoretical_sectors), 4);
  EXPECT_EQ(metric(k.lines[1], MetricId::site_inst), 2 * 4);  // the site's are not added
  // The counts also appear at the call, as in Nsight Compute.
  ASSERT_EQ(k.inlined_lines.size(), 1u);
  EXPECT_EQ(k.inlined_lines[0].line, 20u);
  EXPECT_EQ(metric(k.inlined_lines[0], MetricId::site_inst), 3 * 2 * 4);
  EXPECT_EQ(metric(k.inlined_lines[0], MetricId::theoretical_sectors), 4);
  double instructions = 0;
  for (const results::LineProfile& l : k.lines) instructions += metric(l, MetricId::site_inst);
  EXPECT_EQ(instructions, 4 * 2 * 4);
}

// A header's function counts at the line of its call, with its own line beside; the user's function keeps its lines.
TEST(KernelCode, HeadersFunctionsCountAtTheUsersLine) {
  std::string text = kModule;
  text.replace(text.find("  setp"), 0,
               "  .loc 2 138 62, function_name $L__info_string0, inlined_at 1 20 3\n"
               "  .loc 2 708 1, function_name $L__info_string0, inlined_at 2 138 62\n");
  text.replace(text.find(".file"), 0, ".file 2 \"/usr/local/cuda/targets/x86_64-linux/include/cuda_fp16.hpp\"\n");
  auto module = ptx::parse(text, "test");
  ASSERT_TRUE(module.ok()) << module.error().message << module.error().detail;
  events::KernelFacts facts;
  facts.name = "k";
  events::BlockFacts block;
  block.function = "k";
  block.instruction_count = 5;
  facts.blocks.push_back(block);
  events::LaunchCounts counts;
  counts.blocks.push_back({4, 4 * 32});
  KernelCode code(0);
  code.on_launch_end(launch_of(facts, **module), counts);
  results::Profile profile;
  profile.kernels.emplace_back().mangled_name = "k";
  code.contribute(profile);
  const results::KernelProfile& k = profile.kernels[0];
  ASSERT_EQ(k.code.size(), 5u);
  const results::CodeRow& row = k.code[2];
  EXPECT_EQ(row.text.substr(0, 4), "setp");
  EXPECT_EQ(row.file, "a.cu");
  EXPECT_EQ(row.line, 20u);
  EXPECT_TRUE(row.inlined_at.empty());
  ASSERT_TRUE(row.header);
  EXPECT_EQ(row.header->line, 708u);
  EXPECT_EQ(row.header->function, "f");
  EXPECT_FALSE(k.code[1].header);
  for (const results::LineProfile& l : k.lines) EXPECT_EQ(l.file, "a.cu");
}

// Two loads of a line that ptxas merges into one: the line has the merged one's wavefronts, as the kernel has.
TEST(KernelCode, SharedAccessesOfALineAreThoseOfTheMachineCode) {
  KernelCode code(0);
  auto module = ptx::parse(kModule, "test");
  ASSERT_TRUE(module.ok());
  events::KernelFacts facts;
  facts.name = "k";
  code.on_launch_end(launch_of(facts, **module), {});
  results::Profile profile;
  results::KernelProfile& k = profile.kernels.emplace_back();
  k.mangled_name = "k";
  for (const bool leader : {true, false}) {
    results::SiteProfile& site = k.sites.emplace_back();
    site.kind = "load";
    site.file = "a.cu";
    site.line = 6;
    site.ptx_line = leader ? 15 : 14;
    site.metrics[MetricId::site_inst] = {8, "inst", Origin::exact, ""};
    site.metrics[MetricId::shared_wavefronts] = {16, "", Origin::modelled, ""};
    site.metrics[MetricId::shared_ideal] = {8, "", Origin::modelled, ""};
    site.metrics[MetricId::shared_excessive] = {8, "", Origin::modelled, ""};
    site.metrics[MetricId::shared_conflicts] = {8, "", Origin::modelled, ""};
    site.metrics[MetricId::site_machine_requests] = {leader ? 8.0 : 0, "", Origin::modelled, ""};
    site.metrics[MetricId::site_machine_wavefronts] = {leader ? 24.0 : 0, "", Origin::modelled, ""};
    site.metrics[MetricId::site_machine_ideal] = {leader ? 16.0 : 0, "", Origin::modelled, ""};
    site.metrics[MetricId::site_machine_conflicts] = {leader ? 5.0 : 0, "", Origin::modelled, ""};
  }
  code.contribute(profile);
  ASSERT_EQ(k.lines.size(), 1u);
  EXPECT_EQ(metric(k.lines[0], MetricId::line_shared_requests), 8);
  EXPECT_EQ(metric(k.lines[0], MetricId::shared_wavefronts), 24);
  EXPECT_EQ(metric(k.lines[0], MetricId::shared_ideal), 16);
  EXPECT_EQ(metric(k.lines[0], MetricId::shared_excessive), 8);
  EXPECT_EQ(metric(k.lines[0], MetricId::shared_conflicts), 5);
}

// if (tid == 0) { ... }: of 4 warps, one lane of each enters, twice.
TEST(KernelCode, FlowGraphSumsLaunches) {
  auto module = ptx::parse(
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() {\n.reg .pred %p<2>;\n"
      "@%p1 bra E;\n"
      "bar.sync 0;\n"
      "E: ret;\n}\n",
      "test");
  ASSERT_TRUE(module.ok()) << module.error().message << module.error().detail;
  events::KernelFacts facts;
  facts.name = "k";
  for (std::uint32_t first = 0; first < 3; ++first) {
    events::BlockFacts& block = facts.blocks.emplace_back();
    block.function = "k";
    block.first_instruction = first;
    block.instruction_count = 1;
  }
  using events::EdgeFacts;
  facts.edges = {{0, 2, 0}, {0, 1, 1}, {1, 2, EdgeFacts::kNotCounted}, {2, EdgeFacts::kLeaves, EdgeFacts::kNotCounted}};
  facts.edge_counters = 2;
  events::LaunchCounts counts;
  counts.blocks = {{4, 128}, {4, 4}, {4, 128}};
  counts.edges = {{4, 124}, {4, 4}};
  KernelCode code(0);
  for (int i = 0; i < 2; ++i) code.on_launch_end(launch_of(facts, **module), counts);
  results::Profile profile;
  profile.detail = true;
  profile.kernels.emplace_back().mangled_name = "k";
  code.contribute(profile);
  const auto read = results::from_json(results::to_json(profile), "p.json");
  ASSERT_TRUE(read.ok());
  ASSERT_TRUE(read->kernels.at(0).graph);
  const results::FlowGraph& graph = *read->kernels.at(0).graph;
  ASSERT_EQ(graph.blocks.size(), 3u);
  EXPECT_EQ(graph.entry, 0u);
  EXPECT_EQ(graph.blocks[1].first_ptx_line, 7u);
  EXPECT_EQ(graph.blocks[1].last_ptx_line, 7u);
  EXPECT_EQ(graph.blocks[1].lanes, 8u);
  ASSERT_EQ(graph.edges.size(), 4u);
  EXPECT_EQ(graph.edges[0].lanes, 248u);
  EXPECT_EQ(graph.edges[1].warps + graph.edges[0].warps, 2 * graph.blocks[0].warps);  // every warp diverged
  EXPECT_EQ(graph.edges[2].lanes, 8u);  // as many as in the block, which has one exit
  EXPECT_EQ(graph.edges[3].to, results::GraphEdge::kLeaves);
  EXPECT_EQ(graph.edges[3].warps, 8u);
}

TEST(KernelCode, SurvivesTheFile) {
  LaunchedKernel f(1);
  f.profile.gpu = "NVIDIA H200";
  f.profile.detail = true;
  f.profile.sources.push_back({"a.cu", "one\ntwo <b>\n", "", true});
  f.profile.timeline.push_back({1, 2, "copy", "HtoD", 10, 20.5, 64});
  results::KernelProfile& k = f.profile.kernels[0];
  results::AccessPattern& p = k.sites[0].patterns.emplace_back();
  p.count = 7;
  p.mask = 0x80000001u;
  p.addresses[31] = -4;
  p.lane_bytes = 4;
  p.space = "global";
  p.base.allocation = 3;
  p.transactions.push_back({-4, 32});
  k.sites[0].patterns_other = 2;
  results::BlockTraceProfile& trace = k.block_trace.emplace();
  trace.block = {1, 2, 3};
  trace.left_out = 5;
  trace.events.push_back({0, 1, 2, 0x3u, 3u, {0, 4}});
  const std::string text = results::to_json(f.profile);
  auto back = results::from_json(text, "test");
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(results::to_json(*back), text);
}

}  // namespace
}  // namespace warpgrind::observers
