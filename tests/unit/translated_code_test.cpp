// What ptxas is taken to make of small kernels (src/machine), and where the warps of a launch went.
#include <gtest/gtest.h>

#include <algorithm>

#include "machine/code.h"
#include "ptx_kernel.h"

namespace warpgrind::machine {
namespace {

struct Translated {
  explicit Translated(const std::string& body, unsigned threads = 64) : kernel(body), run(kernel.run(threads)) {
    code = translate(*kernel.module, facts(), model());
    flow = flow_of(code, facts(), run.counts);
  }
  const events::KernelFacts& facts() const { return run.kernel->facts(); }
  static const GpuModel& model() { return **find_gpu_model("h200"); }
  // The first instruction of the opcode, and the block it is in.
  const Instruction& find(ptx::Opcode opcode, std::size_t* block = nullptr) const {
    for (std::size_t b = 0; b < code.blocks.size(); ++b)
      for (const Instruction& i : code.blocks[b].instructions)
        if (kernel.module->functions[code.functions[i.function]].body[i.ptx].opcode == opcode) {
          if (block) *block = b;
          return i;
        }
    ADD_FAILURE() << "no such instruction";
    return code.blocks[0].instructions[0];
  }
  double warps_at(ptx::Opcode opcode) const {
    std::size_t block = 0;
    find(opcode, &block);
    return flow.warps[block];
  }
  device::Kernel kernel;
  device::LaunchResult run;
  Code code;
  Flow flow;
};

TEST(TranslatedCode, InstructionsHavePipeCostsRegistersAndSite) {
  const Translated t(
      "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; ld.global.v2.f32 {%f1, %f2}, [%rd1]; div.rn.f32 %f3, %f1, "
      "%f2;\n"
      "st.global.f32 [%rd3], %f3;\n");
  EXPECT_EQ(t.find(ptx::Opcode::ld).pipe, Pipe::none);  // ld.param
  const Instruction& division = t.find(ptx::Opcode::div);
  EXPECT_EQ(division.pipe, Pipe::fma);
  EXPECT_EQ(division.issue, 17);
  EXPECT_EQ(division.reads.size(), 2u);
  EXPECT_EQ(division.writes.size(), 1u);
  const Instruction& store = t.find(ptx::Opcode::st);
  EXPECT_EQ(store.pipe, Pipe::global);
  EXPECT_TRUE(store.store);
  ASSERT_NE(store.site, kNone);
  EXPECT_EQ(t.facts().sites[store.site].kind, events::SiteKind::store);
  EXPECT_EQ(t.find(ptx::Opcode::mul).pipe, Pipe::imad);
  bool wide_load = false;
  for (const Instruction& i : t.code.blocks[t.code.entry].instructions) wide_load |= i.load && i.result_words == 2;
  EXPECT_TRUE(wide_load);
  EXPECT_EQ(t.code.blocks.size(), 1u);
  EXPECT_EQ(t.flow.warps[0], 2);
  EXPECT_EQ(t.flow.lanes[0], 64);
}

constexpr char kShortIf[] =
    "setp.lt.u32 %p1, %r1, 7; @%p1 bra after; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;\n"
    "st.global.u32 [%rd3], %r1; after: mov.u32 %r2, 1;\n";

TEST(TranslatedCode, AShortIfBecomesPredicates) {
  const Translated t(kShortIf);
  EXPECT_EQ(t.code.blocks.size(), 1u);
  EXPECT_EQ(t.code.blocks[0].facts_blocks.size(), 3u);
  ASSERT_EQ(t.code.predicated.size(), 1u);
  EXPECT_TRUE(t.code.predicated[0]);
  EXPECT_TRUE(t.find(ptx::Opcode::st).guarded);
  EXPECT_FALSE(t.find(ptx::Opcode::setp).guarded);
  EXPECT_EQ(t.flow.warps[0], 2);
  EXPECT_EQ(t.run.counts.branches[0].divergent, 1u);  // in PTX
}

TEST(TranslatedCode, ABarrierStaysBehindABranch) {
  const Translated t("setp.lt.u32 %p1, %r1, 32; @%p1 bra after; bar.sync 1, 32; after: mov.u32 %r2, 1;\n");
  EXPECT_EQ(t.code.blocks.size(), 3u);
  EXPECT_FALSE(t.code.predicated[0]);
}

// Both ways of a branch, with nobody asking for the counters of edges.
TEST(TranslatedCode, EdgesOfALoopAreKnown) {
  const Translated t(
      "mov.u32 %r2, 0; loop: add.u32 %r2, %r2, 1; bar.sync 0; setp.lt.u32 %p1, %r2, 10; @%p1 bra loop;\n"
      "st.global.u32 [%rd1], %r2;\n");
  std::size_t loop = 0;
  t.find(ptx::Opcode::bar, &loop);
  EXPECT_EQ(t.flow.warps[loop], 20);
  const auto& ways = t.code.blocks[loop].successors;
  ASSERT_EQ(ways.size(), 2u);
  for (std::size_t k = 0; k < 2; ++k) EXPECT_EQ(t.flow.edges[loop][k], ways[k].to == loop ? 18 : 2);
}

// Lane 0 of each warp leaves early: both ways are gone by both warps.
TEST(TranslatedCode, ADivergentBranchGoesBothWays) {
  const Translated t(
      "mov.u32 %r2, 0; and.b32 %r3, %r1, 31; loop: add.u32 %r2, %r2, 1; st.global.u32 [%rd1], %r2; membar.gl;\n"
      "setp.lt.u32 %p1, %r2, %r3; @%p1 bra loop;\n");
  std::size_t loop = 0;
  t.find(ptx::Opcode::membar, &loop);
  EXPECT_EQ(t.flow.warps[loop], 62);
  for (std::size_t k = 0; k < 2; ++k)
    EXPECT_EQ(t.flow.edges[loop][k], t.code.blocks[loop].successors[k].to == loop ? 60 : 62);
}

TEST(TranslatedCode, OfAnotherModuleThereIsNone) {
  const Translated t("");
  const device::Kernel other("", 1, nullptr, ".visible .entry z() { ret; }");
  events::KernelFacts facts = t.facts();
  facts.name = "somebody";
  for (events::BlockFacts& b : facts.blocks) b.function = "somebody";
  EXPECT_TRUE(translate(*other.module, facts, Translated::model()).blocks.empty());
}

}  // namespace
}  // namespace warpgrind::machine
