// Small kernels as ptxas would compile them (src/engine/sass), and the paths of a launch's warps.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "ptx_kernel.h"
#include "sass/code.h"
#include "sass/registers.h"

namespace warpgrind::sass {
namespace {

struct Translated {
  explicit Translated(const std::string& body, unsigned threads = 64) : kernel(body), run(kernel.run(threads)) {
    code = translate(*kernel.module, facts(), model());
    flow = flow_of(code, facts(), run.counts);
  }
  const events::KernelFacts& facts() const { return run.kernel->facts(); }
  static const GpuModel& model() { return **find_gpu_model("h200"); }
  // Returns the first instruction of the opcode, and the block that contains it.
  const Instruction& find(ptx::Opcode opcode, std::size_t* block = nullptr) const {
    for (std::size_t b = 0; b < code.blocks.size(); ++b)
      for (const Instruction& i : code.blocks[b].instructions)
        if (!i.added && kernel.module->functions[code.functions[i.function]].body[i.ptx].opcode == opcode) {
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
  EXPECT_EQ(division.issue, 10);
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

// Number of blocks of machine code. As ptxas 13.0 makes them of the same code.
std::size_t blocks_of(const std::string& body) {
  return Translated(body + "st.global.u32 [%rd1], %r3;\n").code.blocks.size();
}

TEST(TranslatedCode, PredicatesAreNotNested) {
  // The inner body gets a predicate, and the outer branch stays.
  EXPECT_EQ(blocks_of("mov.u32 %r3, 1; setp.lt.u32 %p1, %r1, 7; @%p1 bra after; add.u32 %r3, %r1, 2;\n"
                      "setp.gt.u32 %p2, %r1, 50; @%p2 bra after; add.u32 %r3, %r3, 5; after:\n"),
            3u);
  // Both bodies stay behind branches: the other side of the else-if stands between the inner one and the end.
  EXPECT_EQ(blocks_of("mov.u32 %r3, 1; setp.lt.u32 %p1, %r1, 7; @%p1 bra other; setp.gt.u32 %p2, %r1, 50;\n"
                      "@%p2 bra after; add.u32 %r3, %r3, 5; bra.uni after; other: add.u32 %r3, %r1, 2; after:\n"),
            5u);
}

TEST(TranslatedCode, TwoConditionsBecomeOnePredicate) {
  const std::string both =
      "mov.u32 %r3, 1; setp.lt.u32 %p1, %r1, 7; @%p1 bra after; add.u32 %r4, %r1, 2; setp.gt.u32 %p2, %r4, 50;\n"
      "@%p2 bra after;";
  EXPECT_EQ(blocks_of(both + "add.u32 %r3, %r3, 5; after:\n"), 1u);
  // One branch remains, and the lanes of both conditions take it.
  const Translated t(both + "bar.sync 1, 32; add.u32 %r3, %r3, 5; after: st.global.u32 [%rd1], %r3;\n");
  ASSERT_EQ(t.code.blocks.size(), 3u);
  ASSERT_EQ(t.code.blocks[0].successors.size(), 2u);
  EXPECT_EQ(t.code.blocks[0].successors[0].facts_edges.size(), 2u);
  EXPECT_EQ(t.flow.edges[0][0], 2);  // 0 to 6 of the first warp, and 49 to 63 of the second
}

// Both edges of a branch, without a request for edge counters.
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

// Lane 0 of each warp leaves early: both warps take both edges.
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

// Bytes a lane for each memory instruction of the opcode.
std::vector<unsigned> widths(const Translated& t, ptx::Opcode opcode, StateSpace space) {
  std::vector<unsigned> found;
  for (const Block& block : t.code.blocks)
    for (const Instruction& i : block.instructions) {
      const ptx::Instruction& text = t.kernel.module->functions[t.code.functions[i.function]].body[i.ptx];
      if (text.opcode == opcode && text.space == space && i.bytes != 0) found.push_back(i.bytes);
    }
  return found;
}
using Widths = std::vector<unsigned>;
constexpr char kBase[] = "mov.u32 %r2, memory; shl.b32 %r3, %r1, 4; add.u32 %r4, %r2, %r3;\n";

TEST(TranslatedCode, NeighbouringLoadsOfSharedMemoryBecomeOne) {
  const Translated t(std::string(kBase) +
                     "ld.shared.f32 %f1, [%r4+4]; ld.shared.f32 %f2, [%r4]; add.f32 %f1, %f1, %f2;\n"
                     "ld.shared.f32 %f3, [%r4+8]; ld.shared.f32 %f4, [%r4+12]; ld.shared.f32 %f5, [%r4+16];\n"
                     "add.f32 %f1, %f1, %f3; st.global.f32 [%rd1], %f1;\n");
  EXPECT_EQ(widths(t, ptx::Opcode::ld, StateSpace::shared), (Widths{16, 4}));
  const Instruction* joint = nullptr;
  for (const Instruction& i : t.code.blocks[0].instructions)
    if (i.bytes == 16) joint = &i;
  ASSERT_NE(joint, nullptr);
  EXPECT_EQ(joint->writes.size(), 4u);
  EXPECT_EQ(joint->result_words, 4);
  EXPECT_EQ(t.facts().sites[joint->site].text, "ld.shared.f32 %f2, [%r4];");
  // 16-byte rows of all lanes: 4 wavefronts a warp instead of 4 for each load.
  EXPECT_EQ(t.run.counts.sites[joint->site].joint.wavefronts, 8u);
  EXPECT_EQ(t.run.counts.sites[joint->site].shared.wavefronts, 8u);
}

// ptxas 13.0 does this for each set of three words out of four.
TEST(TranslatedCode, ThreeWordsOfFourAreLoadedAsFour) {
  const auto words = [](std::initializer_list<int> which, const char* space) {
    std::string body = std::string(space) == "shared" ? kBase : "mov.u32 %r4, %r1;\n";
    for (const int w : which)
      body += std::string("ld.") + space + ".f32 %f" + std::to_string(w + 1) +
              (space[0] == 's' ? ", [%r4+" : ", [%rd1+") + std::to_string(4 * w) + "];\n";
    const Translated t(body);
    return widths(t, ptx::Opcode::ld, space[0] == 's' ? StateSpace::shared : StateSpace::global);
  };
  for (const std::initializer_list<int> three : {std::initializer_list<int>{0, 1, 2}, {0, 1, 3}, {0, 2, 3}, {1, 2, 3}})
    EXPECT_EQ(words(three, "shared"), (Widths{16}));
  EXPECT_EQ(words({1, 2, 3, 4, 5, 6}, "shared"), (Widths{16, 16}));
  EXPECT_EQ(words({0, 2}, "shared"), (Widths{4, 4}));
  EXPECT_EQ(words({2, 3, 4}, "shared"), (Widths{8, 4}));
  EXPECT_EQ(words({0, 1, 2}, "global"), (Widths{4, 4, 4}));
}

// An unrequested word is read with the others: 8 wavefronts for 32 lanes of 16 bytes, at any position of the first.
TEST(TranslatedCode, AnAccessWithAGapCountsAsAWhole) {
  const Translated t(std::string(kBase) +
                     "ld.shared.f32 %f1, [%r4+4]; ld.shared.f32 %f2, [%r4+8]; ld.shared.f32 %f3, [%r4+12];\n");
  const Instruction& load = *std::find_if(t.code.blocks[0].instructions.begin(), t.code.blocks[0].instructions.end(),
                                          [](const Instruction& i) { return i.bytes == 16; });
  EXPECT_EQ(t.run.counts.sites[load.site].joint.wavefronts, 2u * 4);
  EXPECT_EQ(t.run.counts.sites[load.site].joint.bank_conflicts, 0u);
}

// 43 words by fours: the exit comes after the third. ptxas 13.0 makes 16-byte loads of such loops (1001, 1003, 1007
// words).
TEST(TranslatedCode, ALoopWithItsExitInTheMiddleIsOnePiece) {
  const std::string head = "mov.u32 %r2, memory; mov.u32 %r3, 8; mov.f32 %f9, 0f00000000; bra.uni first;\n";
  const std::string second =
      "second: ld.shared.f32 %f4, [%r2+12]; add.f32 %f9, %f9, %f4; add.u32 %r3, %r3, 16; add.u32 %r2, %r2, 16;\n";
  const std::string first =
      "ld.shared.f32 %f1, [%r2]; ld.shared.f32 %f2, [%r2+4]; ld.shared.f32 %f3, [%r2+8]; add.f32 %f9, %f9, %f1;\n"
      "add.f32 %f9, %f9, %f2; add.f32 %f9, %f9, %f3; setp.eq.s32 %p1, %r3, 168; @%p1 bra after; bra.uni second;\n"
      "after: st.global.f32 [%rd1], %f9;\n";
  const Translated t(head + second + "first: " + first);
  EXPECT_EQ(widths(t, ptx::Opcode::ld, StateSpace::shared), (Widths{16}));
  std::size_t loop = 0;
  t.find(ptx::Opcode::setp, &loop);
  EXPECT_EQ(t.flow.warps[loop], 2 * 11);
  EXPECT_EQ(t.code.blocks[loop].facts_blocks.size(), 3u);
  EXPECT_NE(t.code.blocks[loop].unrolled, 1u);
  const Translated stays(head + second + "first: .pragma \"nounroll\"; " + first);
  EXPECT_EQ(widths(stays, ptx::Opcode::ld, StateSpace::shared), (Widths{16, 4}));
}

TEST(TranslatedCode, ASlowPathKeepsLoadsApart) {
  const auto loads = [](const char* between) {
    const Translated t(std::string(kBase) + "ld.shared.f32 %f1, [%r4];" + between + "ld.shared.f32 %f2, [%r4+4];\n");
    return widths(t, ptx::Opcode::ld, StateSpace::shared);
  };
  for (const char* slow : {"div.rn.f32 %f3, %f1, %f1;", "rcp.rn.f32 %f3, %f1;", "sqrt.rn.f32 %f3, %f1;",
                           "div.rn.f64 %fd1, %fd1, %fd1;", "div.u64 %rd2, %rd1, %rd1;"})
    EXPECT_EQ(loads(slow), (Widths{4, 4})) << slow;
  for (const char* quick : {"div.approx.f32 %f3, %f1, %f1;", "rsqrt.approx.f32 %f3, %f1;", "ex2.approx.f32 %f3, %f1;",
                            "div.u32 %r3, %r1, %r1;"})
    EXPECT_EQ(loads(quick), (Widths{8})) << quick;
}

// As in an H200's counters, kernel by kernel: S2R of a thread index counts for the load and store unit, that of a block
// index does not. I2FP counts for the integer pipe, I2F.S16 for special functions.
TEST(TranslatedCode, InstructionsAreCountedByPipe) {
  const auto pipes = [](const std::string& body) {
    const Translated t(body);
    std::array<float, kCountedPipes> sums{};
    for (const Block& block : t.code.blocks)
      for (const Instruction& i : block.instructions)
        for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += i.on_pipe[k];
    return sums;
  };
  const auto at = [](CountedPipe p) { return static_cast<std::size_t>(p); };
  const auto more = [&](const std::string& body, CountedPipe pipe) {
    const std::string store = "st.global.f32 [%rd1], %f9;\n";
    return pipes(body + store)[at(pipe)] - pipes(store)[at(pipe)];
  };
  EXPECT_EQ(more("ld.global.f32 %f1, [%rd1+4]; add.f32 %f9, %f1, %f1;", CountedPipe::lsu), 1);
  EXPECT_EQ(more("ld.global.f32 %f1, [%rd1+4]; add.f32 %f9, %f1, %f1;", CountedPipe::fma), 1);
  EXPECT_EQ(more("mov.u32 %r2, %laneid; cvt.rn.f32.s32 %f9, %r2;", CountedPipe::lsu), 1);
  EXPECT_EQ(more("mov.u32 %r2, %ctaid.y; cvt.rn.f32.s32 %f9, %r2;", CountedPipe::lsu), 0);
  EXPECT_EQ(more("mov.u32 %r2, %ctaid.y; cvt.rn.f32.s32 %f9, %r2;", CountedPipe::alu), 1);
  EXPECT_EQ(more("ld.global.s16 %h1, [%rd1]; cvt.rn.f32.s16 %f9, %h1;", CountedPipe::xu), 1);
  EXPECT_EQ(more("ld.global.f32 %f1, [%rd1+4]; div.rn.f32 %f9, %f1, %f1;", CountedPipe::xu), 2);  // MUFU, FCHK
  EXPECT_EQ(more("ld.global.f32 %f1, [%rd1+4]; div.rn.f32 %f9, %f1, %f1;", CountedPipe::fma), 5);
  // ptxas knows the reciprocal of a constant. A saturation belongs to the FFMA before it.
  EXPECT_EQ(more("ld.global.f32 %f1, [%rd1+4]; div.rn.f32 %f9, %f1, 0f40400000;", CountedPipe::xu), 1);
  EXPECT_EQ(
      more("ld.global.f32 %f1, [%rd1+4]; fma.rn.f32 %f2, %f1, %f1, %f1; cvt.sat.f32.f32 %f9, %f2;", CountedPipe::fma),
      1);
  EXPECT_EQ(more("ld.global.f32 %f1, [%rd1+4]; cvt.sat.f32.f32 %f9, %f1;", CountedPipe::fma), 1);
  EXPECT_EQ(more("ld.global.f32 %f1, [%rd1+4]; cvt.sat.f32.f32 %f9, %f1;", CountedPipe::xu), 0);
  EXPECT_EQ(more("ld.global.f32 %f1, [%rd1+4]; cvt.rzi.f32.f32 %f9, %f1;", CountedPipe::xu), 1);  // FRND
  EXPECT_EQ(more("ld.global.f32 %f1, [%rd1+4]; sqrt.rn.f32 %f9, %f1;", CountedPipe::alu), 2);
  EXPECT_EQ(more("ld.global.f32 %f1, [%rd1+4]; rcp.approx.f32 %f9, %f1;", CountedPipe::alu), 4);
  EXPECT_EQ(more("ld.global.f32 %f1, [%rd1+4]; ex2.approx.f32 %f9, %f1;", CountedPipe::alu), 1);
  EXPECT_EQ(
      more("ld.global.f64 %fd1, [%rd1+8]; div.rn.f64 %fd2, %fd1, %fd1; cvt.rn.f32.f64 %f9, %fd2;", CountedPipe::fp64),
      8);
  // A sign is a modifier of an operand, but no store has it.
  EXPECT_EQ(more("ld.global.f32 %f1, [%rd1+4]; neg.f32 %f9, %f1;", CountedPipe::fma), 1);
  EXPECT_EQ(more("ld.global.f32 %f1, [%rd1+4]; neg.f32 %f2, %f1; add.f32 %f9, %f2, %f1;", CountedPipe::fma), 1);
  EXPECT_EQ(more("ld.global.f64 %fd1, [%rd1+8]; neg.f64 %fd2, %fd1; st.global.f64 [%rd1+8], %fd2;", CountedPipe::fp64),
            1);
  EXPECT_EQ(more("membar.gl;", CountedPipe::tex), 1);  // CCTL.IVALL
}

// I2FP has had a fixed latency in machine code since compute capability 8.6.
TEST(TranslatedCode, IntegersBecomeSinglePrecisionOnTheIntegerPipe) {
  const auto pipe = [](const char* conversion, const char* gpu) {
    device::Kernel kernel(std::string(conversion) + "st.global.f32 [%rd1], %f9;\n");
    const device::LaunchResult run = kernel.run(32);
    const Code code = translate(*kernel.module, run.kernel->facts(), **find_gpu_model(gpu));
    for (const Instruction& i : code.blocks[0].instructions)
      if (kernel.module->functions[0].body[i.ptx].opcode == ptx::Opcode::cvt) return i.pipe;
    return Pipe::none;
  };
  EXPECT_EQ(pipe("cvt.rn.f32.s32 %f9, %r1;", "h200"), Pipe::alu);
  EXPECT_EQ(pipe("cvt.rn.f32.u16 %f9, %h1;", "h200"), Pipe::alu);
  EXPECT_EQ(pipe("cvt.rn.f32.s16 %f9, %h1;", "h200"), Pipe::xu);  // I2F
  EXPECT_EQ(pipe("cvt.rn.f32.u64 %f9, %rd1;", "h200"), Pipe::xu);
  EXPECT_EQ(pipe("cvt.rn.f32.s32 %f9, %r1;", "k40c"), Pipe::xu);
}

TEST(TranslatedCode, WithoutSureAlignmentNothingIsMerged) {
  // 4 * thread: no pair of words is aligned in all threads.
  EXPECT_EQ(widths(Translated("mov.u32 %r2, memory; shl.b32 %r3, %r1, 2; add.u32 %r4, %r2, %r3;\n"
                              "ld.shared.u32 %r5, [%r4]; ld.shared.u32 %r6, [%r4+4]; add.u32 %r5, %r5, %r6;\n"
                              "st.global.u32 [%rd1], %r5;\n"),
                   ptx::Opcode::ld, StateSpace::shared),
            (Widths{4, 4}));
  // A pointer from the kernel's parameters.
  EXPECT_EQ(widths(Translated("ld.global.u32 %r5, [%rd1]; ld.global.u32 %r6, [%rd1+4]; add.u32 %r5, %r5, %r6;\n"
                              "st.global.u32 [%rd1+8], %r5;\n"),
                   ptx::Opcode::ld, StateSpace::global),
            (Widths{4, 4}));
}

// A multiple of 16 whose high half need not be one.
TEST(TranslatedCode, AHalfOfAPairIsNotThePair) {
  EXPECT_EQ(widths(Translated("mul.wide.u32 %rd2, %r1, 16; mov.b64 {_, %r4}, %rd2; mov.u32 %r5, memory;\n"
                              "add.u32 %r4, %r4, %r5; ld.shared.u32 %r6, [%r4]; ld.shared.u32 %r7, [%r4+4];\n"
                              "add.u32 %r6, %r6, %r7; st.global.u32 [%rd1], %r6;\n"),
                   ptx::Opcode::ld, StateSpace::shared),
            (Widths{4, 4}));
}

TEST(TranslatedCode, BarriersStoresAndVolatileKeepLoadsApart) {
  const auto loads = [](const std::string& between, const char* second = "ld.shared.u32 %r6, [%r4+4];") {
    return widths(Translated(std::string(kBase) + "ld.shared.u32 %r5, [%r4]; " + between + second +
                             "add.u32 %r5, %r5, %r6; st.global.u32 [%rd1], %r5;\n"),
                  ptx::Opcode::ld, StateSpace::shared);
  };
  EXPECT_EQ(loads(""), (Widths{8}));
  EXPECT_EQ(loads("bar.sync 0; "), (Widths{4, 4}));
  EXPECT_EQ(loads("st.shared.u32 [%r2], %r1; "), (Widths{4, 4}));  // may be the same place
  EXPECT_EQ(loads("st.shared.u32 [%r4+64], %r1; "), (Widths{8}));  // is another place
  EXPECT_EQ(loads("", "ld.volatile.shared.u32 %r6, [%r4+4];"), (Widths{4, 4}));
}

TEST(TranslatedCode, WhatIsInARegisterIsNotLoadedAgain) {
  const Translated t(std::string(kBase) +
                     "ld.shared.u32 %r5, [%r4]; add.u32 %r5, %r5, 1; st.shared.u32 [%r4], %r5;\n"
                     "ld.shared.u32 %r6, [%r4]; add.u32 %r6, %r6, 1; st.shared.u32 [%r4], %r6;\n");
  EXPECT_EQ(widths(t, ptx::Opcode::ld, StateSpace::shared), (Widths{4}));
  EXPECT_EQ(widths(t, ptx::Opcode::st, StateSpace::shared), (Widths{4}));
}

TEST(TranslatedCode, OfStoresToOnePlaceTheLastIsLeft) {
  const Translated t(
      std::string(kBase) +
      "st.shared.u32 [%r4], %r1; st.shared.u32 [%r4], %r2; st.shared.u32 [%r4], %r3; st.shared.u32 [%r4], %r4;\n");
  EXPECT_EQ(widths(t, ptx::Opcode::st, StateSpace::shared), (Widths{4}));
}

// The second load partly overlaps the store. It waits for the store and is not merged with the first load.
TEST(TranslatedCode, ALoadIsNotMovedAcrossItsStore) {
  const Translated t(
      std::string(kBase) +
      "ld.shared.v2.u32 {%r5, %r6}, [%r4]; st.shared.u32 [%r4+12], %r1; ld.shared.v2.u32 {%r7, %r8}, [%r4+8];\n"
      "add.u32 %r5, %r5, %r7; st.global.u32 [%rd1], %r5;\n");
  EXPECT_EQ(widths(t, ptx::Opcode::ld, StateSpace::shared), (Widths{8, 8}));
}

TEST(TranslatedCode, AnEarlyReturnIsAPredicatedExit) {
  const Translated t("setp.gt.u32 %p1, %r1, 40; @%p1 bra end; bar.sync 1, 64; st.global.u32 [%rd1], %r1; end:\n");
  ASSERT_EQ(t.code.predicated.size(), 1u);
  EXPECT_TRUE(t.code.predicated[0]);
}

TEST(TranslatedCode, AProductAndItsSumAreFused) {
  const auto ffma = [](const std::string& body) {
    const Translated t(body + " st.global.f32 [%rd1], %f4;\n");
    return t.find(ptx::Opcode::add).operations[static_cast<std::size_t>(Operation::ffma)];
  };
  EXPECT_EQ(ffma("mul.f32 %f3, %f1, %f2; add.f32 %f4, %f3, %f1;"), 1);
  EXPECT_EQ(ffma("mul.rn.f32 %f3, %f1, %f2; add.f32 %f4, %f3, %f1;"), 0);                      // explicit rounding
  EXPECT_EQ(ffma("mul.f32 %f3, %f1, %f2; add.f32 %f4, %f3, %f1; add.f32 %f4, %f4, %f3;"), 0);  // used twice
}

TEST(TranslatedCode, DivisionsAreSequences) {
  const Translated t("div.rn.f32 %f3, %f1, %f2; mul.f32 %f4, %f3, 0f40000000; st.global.f32 [%rd1], %f4;\n");
  const auto count = [](const Instruction& i, Operation o) { return i.operations[static_cast<std::size_t>(o)]; };
  EXPECT_EQ(count(t.find(ptx::Opcode::div), Operation::ffma), 5);
  EXPECT_EQ(count(t.find(ptx::Opcode::mul), Operation::fadd), 1);
}

// Machine instructions of the kernel, each counted once. `k` itself begins with 1 (the stack), 1 more with global
// memory, loads its pointer and reads the thread, and ends with EXIT.
float instructions(const std::string& body) {
  const Translated t(body);
  float sum = 0;
  for (const Block& block : t.code.blocks)
    for (const Instruction& i : block.instructions) sum += i.issue;
  return sum;
}

TEST(TranslatedCode, WhatAnInstructionTakesInHasNoLatency) {
  const Translated t("and.b32 %r3, %r1, 9; xor.b32 %r4, %r3, %r1; st.global.u32 [%rd1], %r4;\n");  // LOP3
  EXPECT_EQ(t.find(ptx::Opcode::and_).issue, 0);
  EXPECT_EQ(t.find(ptx::Opcode::and_).latency, 0);
  EXPECT_GT(t.find(ptx::Opcode::xor_).latency, 4);
}

TEST(TranslatedCode, SumsTakeShiftsProductsAndSumsIn) {
  constexpr char kStore[] = " st.global.u32 [%rd1], %r4;\n";
  const float alone = instructions("mad.lo.u32 %r4, %r1, %r1, %r1;" + std::string(kStore));
  EXPECT_EQ(alone, 1 + 1 + 1 + 1 + 1 + 1 + 1);  // stack, descriptor, pointer, thread, IMAD, STG, EXIT
  const auto more = [&](const char* body) { return instructions(body + std::string(kStore)) - alone; };
  EXPECT_EQ(more("shl.b32 %r3, %r1, 4; add.u32 %r4, %r3, %r1;"), 0);                         // LEA
  EXPECT_EQ(more("mul.lo.u32 %r3, %r1, %r1; add.u32 %r4, %r3, %r1;"), 0);                    // IMAD
  EXPECT_EQ(more("add.u32 %r3, %r1, 9; add.u32 %r4, %r3, %r1;"), 0);                         // IADD3
  EXPECT_EQ(more("add.u32 %r3, %r1, 9; add.u32 %r5, %r3, 1; add.u32 %r4, %r5, %r1;"), 1);    // two
  EXPECT_EQ(more("and.b32 %r3, %r1, 9; xor.b32 %r4, %r3, %r1;"), 0);                         // LOP3
  EXPECT_EQ(more("shl.b32 %r3, %r1, 4; add.u32 %r4, %r3, %r1; add.u32 %r4, %r4, %r3;"), 1);  // used twice: IADD3
  EXPECT_EQ(more("mul.lo.u32 %r4, %r1, %r1; mul.lo.u32 %r5, %r1, 7;"), 0);                   // never read
  EXPECT_EQ(more("mov.u32 %r3, 17; mul.lo.u32 %r4, %r1, %r3;"), 0);                          // becomes an operand
  EXPECT_EQ(more("setp.lt.u32 %p1, %r1, 9; setp.gt.u32 %p2, %r1, 3; and.pred %p3, %p1, %p2; selp.u32 %r4, %r1, 7, "
                 "%p3;"),
            2);
}

TEST(TranslatedCode, AddressesAreFolded) {
  const float alone = instructions("st.global.u32 [%rd1], %r1;");
  // IMAD.WIDE
  EXPECT_EQ(instructions("mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r1;"), alone + 1);
  // LEA, LEA.HI.X
  EXPECT_EQ(instructions("cvt.u64.u32 %rd2, %r1; shl.b64 %rd4, %rd2, 2; add.s64 %rd3, %rd1, %rd4;\n"
                         "st.global.u32 [%rd3], %r1;"),
            alone + 2);
  // [R2+0x40]
  EXPECT_EQ(instructions("add.s64 %rd3, %rd1, 64; st.global.u32 [%rd3], %r1;"), alone);
}

TEST(TranslatedCode, ALoopToAConstantIsUnrolled) {
  const auto loop = [](const std::string& begin, const std::string& end, const char* pragma = "") {
    return Translated("ld.global.u32 %r2, [%rd1]; mov.u64 %rd2, %rd1; " + begin + "\nloop: " + pragma +
                          " ld.global.u32 %r3, [%rd2]; add.u32 %r4, %r4, %r3; add.s64 %rd2, %rd2, 4; " + end +
                          " @%p1 bra loop;\nst.global.u32 [%rd1], %r4;\n",
                      32);
  };
  const auto unrolled = [](const Translated& t) {
    std::size_t block = 0;
    t.find(ptx::Opcode::setp, &block);
    return std::make_pair(t.code.blocks[block].unrolled, t.flow.loop_share[block]);
  };
  const char* kToZero = "add.s32 %r5, %r5, -1; setp.gt.s32 %p1, %r5, 0;";
  EXPECT_EQ(unrolled(loop("add.u32 %r5, %r2, 11;", kToZero)), std::make_pair(4u, 4.0 / 11));  // 4 + 4 + 2 + 1
  EXPECT_EQ(unrolled(loop("add.u32 %r5, %r2, 11;", kToZero, ".pragma \"nounroll\";")), std::make_pair(1u, 1.0));
  EXPECT_EQ(unrolled(loop("mov.u32 %r5, 11;", kToZero)), std::make_pair(Block::kAltogether, 0.0));
  EXPECT_EQ(
      unrolled(loop("mov.u32 %r5, 11; mov.u32 %r6, %ntid.x;", "sub.s32 %r5, %r5, %r6; setp.gt.s32 %p1, %r5, 0;", ""))
          .first,
      1u);
}

// Iterations that follow each other read at offsets from one address, also where the counter has other readers.
TEST(TranslatedCode, UnrolledIterationsShareAnAddress) {
  const auto loop = [](const char* address) {
    return Translated(
        "ld.global.u32 %r2, [%rd1]; cvt.u64.u32 %rd6, %r2; add.s64 %rd6, %rd6, 88; mov.u64 %rd2, 0;\nloop: " +
            std::string(address) + " ld.global.u32 %r3, [%rd4]; cvt.u32.u64 %r5, %rd2;\n" +
            "add.u32 %r3, %r3, %r5; add.u32 %r4, %r4, %r3; add.s64 %rd2, %rd2, 8;\n" +
            "setp.lt.u64 %p1, %rd2, %rd6; @%p1 bra loop;\nst.global.u32 [%rd1], %r4;\n",
        32);
  };
  EXPECT_TRUE(loop("shl.b64 %rd3, %rd2, 2; add.s64 %rd4, %rd1, %rd3;").find(ptx::Opcode::shl).of_loop);
  EXPECT_FALSE(loop("shl.b64 %rd3, %rd2, %r2; add.s64 %rd4, %rd1, %rd3;").find(ptx::Opcode::shl).of_loop);
}

// All lanes add one value at one place: a vote, then one lane adds for its warp.
TEST(TranslatedCode, AtomicsOfAWholeWarpAreAggregated) {
  EXPECT_EQ(instructions("atom.global.add.u32 %r2, [%rd1], 1;"), 10);  // as compiled by ptxas
  EXPECT_EQ(instructions("atom.global.add.u32 %r2, [%rd1], 1; st.global.u32 [%rd1], %r2;"), 16);
  const auto aggregated = [](const std::string& body) { return Translated(body).find(ptx::Opcode::atom).aggregated; };
  EXPECT_TRUE(aggregated("atom.global.add.u32 %r2, [%rd1], 1;"));
  EXPECT_FALSE(aggregated("atom.global.add.u32 %r2, [%rd1], %r1;"));  // each lane has another value
  EXPECT_FALSE(aggregated("atom.global.max.u32 %r2, [%rd1], 1;"));    // not a sum
  EXPECT_FALSE(aggregated("mov.f32 %f1, 0f3F800000; atom.global.add.f32 %f2, [%rd1], %f1;"));
  EXPECT_FALSE(aggregated("mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; atom.global.add.u32 %r2, [%rd3], 1;"));
}

std::uint32_t registers(const std::string& body, const std::string& bounds = "", std::uint32_t cc = 90) {
  const std::string text = ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 data) " +
                           bounds +
                           "\n{\n.reg .b32 %r<200>; .reg .b64 %rd<8>; .reg .pred %p<4>;\nld.param.u64 %rd1, [data];\n" +
                           "mov.u32 %r1, %tid.x;\n" + body + "\nret;\n}\n";
  auto module = ptx::parse(text, "test.ptx");
  EXPECT_TRUE(module.ok());
  return module.ok() ? estimate_registers(**module, 0, cc).registers : 0;
}

TEST(TranslatedCode, RegistersAreEstimatedFromWhatIsAlive) {
  std::string make, use;
  for (int r = 2; r < 102; ++r) {
    make += "mad.lo.u32 %r" + std::to_string(r) + ", %r" + std::to_string(r - 1) + ", %r1, 7;\n";
    use += "st.global.u32 [%rd1+" + std::to_string(4 * r) + "], %r" + std::to_string(r) + ";\n";
  }
  EXPECT_EQ(registers(make + use), 6 + 120u);  // a fifth more than 100
  EXPECT_EQ(registers(make), 8u);              // never read
  EXPECT_LE(registers("st.global.u32 [%rd1], %r1;"), 12u);
  // Launch bounds are obeyed, and the register limit of old GPUs.
  EXPECT_EQ(registers(make + use, ".maxnreg 40"), 40u);
  EXPECT_EQ(registers(make + use, ".maxntid 1024"), 64u);
  EXPECT_EQ(registers(make + use, ".maxntid 256 .minnctapersm 6"), 40u);
  EXPECT_EQ(registers(make + use, "", 20), 63u);
}

// ptxas moves ten loads before their uses if the SM is full of warps even then.
TEST(TranslatedCode, LoadsPutFirstFillRegistersUpToAFullSm) {
  std::string one, all;
  for (int r = 2; r < 42; ++r) {
    const std::string load = "ld.global.u32 %r100, [%rd1+" + std::to_string(4 * r) + "]; add.u32 %r1, %r1, %r100;\n";
    if (r == 2) one = load;
    all += load;
  }
  const char* kEnd = "st.global.u32 [%rd1], %r1;";
  EXPECT_LT(registers(one + kEnd), 12u);
  EXPECT_GT(registers(all + kEnd), 20u);
  EXPECT_LE(registers(all + kEnd), 32u);
}

// Tiles of 8 rows and 16 bytes: LDG four times, the address of two lines (IADD3, IADD3.X, IMAD.WIDE). Each half stands
// in two registers, of which ptxas keeps one.
TEST(TranslatedCode, MatrixFragmentsAreSeveralRequests) {
  const std::string fragment = "{%r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15}";
  const std::string load = "wmma.load.a.sync.aligned.row.m16n16k16", sums = "{%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}";
  const std::string use = "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 " + sums + ", " + fragment + ", " +
                          fragment + ", " + sums + ";\nwmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd1], " +
                          sums + ", 16;\n";
  const Translated t("ld.global.u32 %r2, [%rd1]; and.b32 %r2, %r2, 0; add.u32 %r2, %r2, 16;\n" + load + ".global.f16 " +
                         fragment + ", [%rd1], %r2;\n" + use,
                     32);
  const Instruction& a = t.find(ptx::Opcode::wmma_load);
  EXPECT_EQ(a.requests, 4);
  EXPECT_EQ(a.bytes, 4);
  EXPECT_EQ(a.result_words, 4);
  EXPECT_FLOAT_EQ(a.issue, 4 + 3);
  EXPECT_FLOAT_EQ(a.on_pipe[static_cast<std::size_t>(CountedPipe::lsu)], 4);
  EXPECT_EQ(t.code.register_words[a.writes[3]], 1);
  EXPECT_EQ(t.code.register_words[a.writes[4]], 0);
  EXPECT_EQ(t.run.counts.sites[a.site].requests, 4u);
  const Instruction& product = t.find(ptx::Opcode::wmma_mma);
  EXPECT_EQ(product.issue, 2);
  EXPECT_FLOAT_EQ(product.work, 1);
  const Instruction& store = t.find(ptx::Opcode::wmma_store);
  EXPECT_EQ(store.bytes, 8);
  EXPECT_FLOAT_EQ(store.issue, 4 + 2);  // the stride is a number
  EXPECT_EQ(t.run.counts.sites[store.site].requests, 4u);
  // LDSM takes four tiles at once.
  const Translated s("mov.u32 %r2, memory;\n" + load + ".shared.f16 " + fragment + ", [%r2], 16;\n" + use, 32);
  EXPECT_EQ(s.find(ptx::Opcode::wmma_load).requests, 1);
  EXPECT_EQ(s.find(ptx::Opcode::wmma_load).bytes, 16);
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
}  // namespace warpgrind::sass
