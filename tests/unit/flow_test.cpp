// Control flow and register forms, on small kernels in PTX text.
#include <gtest/gtest.h>

#include <limits>

#include "flow/forms.h"
#include "flow/lane_steps.h"
#include "flow/liveness.h"
#include "flow/provenance.h"
#include "flow/thread_forms.h"
#include "flow/transfer.h"
#include "ptx/parser.h"

namespace {

using namespace warpgrind;
using flow::FormKind;

struct Analysed {
  std::shared_ptr<ptx::Module> module;
  flow::ControlFlow cfg;
  flow::FormAnalysis forms;
  const ptx::Function& function() const { return module->functions[0]; }
  const flow::Form& operator[](const std::string& name) const {
    for (std::size_t r = 0; r < function().registers.size(); ++r)
      if (function().registers[r].name == name) return forms.forms[r];
    throw std::runtime_error("no register " + name);
  }
};

Analysed analyse(const std::string& body, flow::LaneLayout layout = {}) {
  const std::string text =
      ".version 8.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry k(.param .u64 p, .param .u32 n) {\n"
      ".reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<32>; .reg .f32 %f<8>;\n" +
      body + "}\n";
  auto parsed = ptx::parse(text, "test.ptx");
  EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().message + parsed.error().detail);
  Analysed a;
  a.module = parsed.take();
  a.cfg = flow::build_control_flow(a.function());
  a.forms = flow::analyse_forms(a.function(), a.cfg, layout);
  return a;
}

constexpr char kGlobalIndex[] =
    "ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"
    "mad.lo.s32 %r5, %r2, %r3, %r4;\n";

TEST(Forms, GlobalIndexIsAffineAndItsAddressWide) {
  const Analysed a = analyse(std::string(kGlobalIndex) +
                             "mul.wide.s32 %rd2, %r5, 4; add.s64 %rd3, %rd1, %rd2; ld.global.f32 %f1, [%rd3]; ret;\n");
  EXPECT_EQ(a["%r5"].kind, FormKind::affine);
  EXPECT_EQ(a["%r5"].kx, 1);
  EXPECT_EQ(a["%rd3"].kind, FormKind::wide);
  EXPECT_EQ(a["%rd3"].scale, 4);
  EXPECT_TRUE(a["%rd3"].is_signed);
  EXPECT_EQ(a["%f1"].kind, FormKind::varying);
}

TEST(Forms, NotIsMinusOneMinus) {
  const Analysed a = analyse(std::string(kGlobalIndex) +
                             "not.b32 %r6, %r5; add.s32 %r7, %r6, %r1; mul.wide.s32 %rd2, %r7, 8; not.b64 %rd3, %rd2; "
                             "not.pred %p2, %p1; ret;\n");
  EXPECT_EQ(a["%r7"].kind, FormKind::affine);
  EXPECT_EQ(a["%r7"].kx, -1);
  EXPECT_EQ(a["%rd3"].kind, FormKind::wide);
  EXPECT_EQ(a["%rd3"].scale, -8);
}

TEST(Forms, FactorsAreLostBeyondTheirRegister) {
  // 3 * 2863311531 is 2^33 + 1.
  const Analysed a = analyse(std::string(kGlobalIndex) +
                             "mul.lo.u32 %r6, %r5, 3; mul.lo.u32 %r7, %r6, 2863311531; mul.lo.u32 %r8, %r5, 4294967295;"
                             "mul.wide.s32 %rd2, %r5, 1; shl.b64 %rd3, %rd2, 63; neg.s64 %rd4, %rd3;"
                             "mul.lo.s64 %rd5, %rd4, 3; ret;\n");
  EXPECT_EQ(a["%r7"].kx, 1);
  EXPECT_EQ(a["%r8"].kx, -1);
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(a["%rd3"].scale, kLeast);
  EXPECT_EQ(a["%rd4"].scale, kLeast);
  EXPECT_EQ(a["%rd5"].scale, kLeast);
}

TEST(ControlFlow, UnusedLabelsBeginNoBlock) {
  const Analysed a =
      analyse("mov.u32 %r1, %tid.x; $line1: add.s32 %r2, %r1, 1; $line2: $line3: add.s32 %r3, %r2, 1; ret; $end:\n");
  ASSERT_EQ(a.cfg.blocks.size(), 1u);
  EXPECT_EQ(a.cfg.blocks[0].end, 4u);
}

TEST(ControlFlow, TargetsOfBranchesAndTablesBeginBlocks) {
  const Analysed a = analyse(
      "ld.param.u32 %r1, [n]; $head: add.s32 %r1, %r1, -1; $line: setp.gt.s32 %p1, %r1, 0; @%p1 bra $head;\n"
      "$table: .branchtargets $zero, $one;\n"
      "brx.idx %r1, $table; $zero: mov.u32 %r2, 0; $one: mov.u32 %r3, 1; ret;\n");
  std::vector<std::uint32_t> first;
  for (const flow::BasicBlock& b : a.cfg.blocks) first.push_back(b.first);
  EXPECT_EQ(first, (std::vector<std::uint32_t>{0, 1, 4, 5, 6}));
  EXPECT_TRUE(a.cfg.blocks[1].loop_head);
}

TEST(Forms, RowsMakeTidYAffine) {
  const Analysed a = analyse(
      "mov.u32 %r1, %tid.y; ld.param.u32 %r2, [n]; mul.lo.s32 %r3, %r1, %r2; mov.u32 %r4, %tid.x; add.s32 %r5, %r3, "
      "%r4; ret;\n",
      {16, false});
  EXPECT_EQ(a["%r1"].kind, FormKind::affine);
  EXPECT_EQ(a["%r1"].kx, 0);
  EXPECT_EQ(a["%r1"].ky, 1);
  EXPECT_EQ(a["%r5"].kind, FormKind::affine);
  EXPECT_EQ(a["%r5"].kx, 1);
  EXPECT_FALSE(a["%r5"].ky.has_value());  // n is known at run time only
}

TEST(Forms, WarpNumberIsUniformLaneNumberStaysAffine) {
  const Analysed a =
      analyse("mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 5; and.b32 %r3, %r1, 31; and.b32 %r4, %r1, 7; ret;\n");
  EXPECT_EQ(a["%r2"].kind, FormKind::uniform);
  EXPECT_EQ(a["%r3"].kind, FormKind::affine);
  EXPECT_EQ(a["%r4"].kind, FormKind::varying);
}

TEST(Forms, OrOfDisjointBitsIsAddition) {
  const Analysed a =
      analyse("mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; or.b32 %r3, %r2, 3; or.b32 %r4, %r2, 4; ret;\n");
  EXPECT_EQ(a["%r3"].kind, FormKind::affine);
  EXPECT_EQ(a["%r3"].kx, 4);
  EXPECT_EQ(a["%r4"].kind, FormKind::varying);
}

TEST(Forms, UniformValueSetUnderDivergenceAndReadAfterItVaries) {
  const Analysed a = analyse(std::string(kGlobalIndex) +
                             "mov.u32 %r6, 1; mov.u32 %r7, 1; setp.lt.s32 %p1, %r5, %r1; @%p1 bra L;\n mov.u32 %r6, 2; "
                             "mov.u32 %r7, 2; st.global.u32 [%rd1], %r7;\nL: st.global.u32 [%rd1], %r6; ret;\n");
  EXPECT_EQ(a["%r6"].kind, FormKind::varying);
  EXPECT_EQ(a["%r7"].kind, FormKind::uniform);  // dead where the lanes reconverge
}

TEST(Forms, CounterOfALoopThatLanesLeaveAtDifferentTimes) {
  const std::string loop = "mov.u32 %r6, 0;\nL: add.s32 %r6, %r6, 1; setp.lt.s32 %p1, %r6, %r5; @%p1 bra L;\n";
  EXPECT_EQ(analyse(std::string(kGlobalIndex) + loop + "ret;\n")["%r6"].kind, FormKind::uniform);
  EXPECT_EQ(analyse(std::string(kGlobalIndex) + loop + "st.global.u32 [%rd1], %r6; ret;\n")["%r6"].kind,
            FormKind::varying);
}

TEST(Forms, SpinLoopIsRecognised) {
  const Analysed a = analyse(
      "ld.param.u64 %rd1, [p];\nL: atom.global.cas.b32 %r1, [%rd1], 0, 1; setp.ne.s32 %p1, %r1, 0; @%p1 bra L; ret;\n");
  EXPECT_TRUE(a.forms.spin_head[a.cfg.block_of[1]]);
  const Analysed b = analyse(
      "ld.param.u64 %rd1, [p]; ld.param.u32 %r3, [n]; mov.u32 %r2, 0;\nL: atom.global.add.u32 %r1, [%rd1], 1; add.s32 "
      "%r2, %r2, 1; setp.lt.s32 %p1, %r2, %r3; @%p1 bra L; ret;\n");
  EXPECT_FALSE(b.forms.spin_head[b.cfg.block_of[3]]);
}

TEST(Forms, SpinLoopInsideAnotherLoopIsRecognised) {
  // A grid barrier in a loop over time steps: the inner loop waits, the outer one only counts.
  const Analysed a = analyse(
      "ld.param.u64 %rd1, [p]; ld.param.u32 %r3, [n]; mov.u32 %r2, 0;\nS: add.s32 %r2, %r2, 1;\nL: ld.acquire.gpu.u32 "
      "%r1, [%rd1]; setp.lt.s32 %p1, %r1, %r2; @%p1 bra L;\n setp.lt.s32 %p2, %r2, %r3; @%p2 bra S; ret;\n");
  EXPECT_FALSE(a.forms.spin_head[a.cfg.block_of[3]]);
  EXPECT_TRUE(a.forms.spin_head[a.cfg.block_of[4]]);
}

// The word decides whether an iteration moves on (HeCBench's `bh`): one that does not move on waits.
TEST(Forms, SpinLoopWhoseCounterWaitsIsRecognised) {
  const auto spins = [](const std::string& in_branch, const std::string& behind) {
    const Analysed a = analyse(
        "ld.param.u64 %rd1, [p]; ld.param.u32 %r3, [n];\nL: mul.wide.s32 %rd2, %r3, 4; add.s64 %rd3, %rd1, %rd2; "
        "ld.volatile.global.u32 %r1, [%rd3]; setp.lt.s32 %p1, %r1, 0; @%p1 bra W;\n" +
        in_branch + "st.global.u32 [%rd1], %r1;\nW: " + behind + "setp.ge.s32 %p2, %r3, 0; @%p2 bra L; ret;\n");
    return a.forms.spin_head[a.cfg.block_of[2]];
  };
  EXPECT_TRUE(spins("add.s32 %r3, %r3, -4; ", ""));
  EXPECT_TRUE(spins("add.s32 %r3, %r3, -4; ", "bar.sync 0; "));
  EXPECT_FALSE(spins("", "add.s32 %r3, %r3, -4; "));  // a scan
}

// A retry of a compare-and-swap fails only if others progress. With another value to compare, it may wait for them.
TEST(Forms, RetryOfACompareAndSwapIsNoSpinLoop) {
  const auto spins = [](const std::string& first, const std::string& last) {
    const Analysed a = analyse("ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1];\nL: " + first +
                               "add.u32 %r3, %r2, 1; atom.global.cas.b32 %r1, [%rd1], %r2, %r3; setp.ne.s32 %p1, %r2, "
                               "%r1; " +
                               last + "@%p1 bra L; ret;\n");
    return a.forms.spin_head[a.cfg.block_of[2]];
  };
  EXPECT_FALSE(spins("mov.u32 %r2, %r1; ", ""));
  EXPECT_FALSE(spins("", "mov.u32 %r2, %r1; "));
  EXPECT_TRUE(spins("and.b32 %r2, %r1, 1; ", ""));
  EXPECT_TRUE(spins("mov.u32 %r2, 0; ", ""));
  EXPECT_TRUE(spins("mov.u32 %r2, %r1; ld.volatile.global.u32 %r4, [%rd1+4]; ", ""));
}

// A scan reads another word each time. Kokkos's queue of work (WorkGraph) did not end in four minutes when each warp
// let all others run after two entries.
TEST(Forms, ScanOfAnArrayIsNoSpinLoop) {
  const auto spins = [](const std::string& address, const std::string& rest = "") {
    const Analysed a = analyse("ld.param.u64 %rd1, [p]; ld.param.u32 %r3, [n]; mov.u32 %r2, 0;\nL: " + address +
                               "ld.relaxed.gpu.u32 %r1, [%rd3+8]; setp.eq.s32 %p1, %r1, 0; @%p1 bra E;\n" + rest +
                               "add.s32 %r2, %r2, 1; setp.lt.s32 %p2, %r2, %r3; @%p2 bra L;\nE: ret;\n");
    return a.forms.spin_head[a.cfg.block_of[3]];
  };
  const std::string next = "mul.wide.s32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; ";
  EXPECT_FALSE(spins(next));
  EXPECT_FALSE(spins("shl.b32 %r4, %r2, 2; cvt.u64.u32 %rd2, %r4; add.s64 %rd3, %rd2, %rd1; "));
  EXPECT_TRUE(spins("mov.u64 %rd3, %rd1; "));                                                        // the same word
  EXPECT_TRUE(spins("and.b32 %r4, %r2, 3; mul.wide.s32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2; "));  // in a circle
  EXPECT_TRUE(spins(next, "setp.eq.s32 %p3, %r1, 7; @%p3 bra L;\n"));  // not counted while it waits
  EXPECT_TRUE(spins(next, "@%p1 mov.u32 %r2, 0; "));
}

TEST(ControlFlow, PostDominatorsOfAnIrreducibleGraph) {
  // Two blocks that jump to each other and can both be entered first.
  const Analysed a = analyse(std::string(kGlobalIndex) +
                             "setp.lt.s32 %p1, %r5, 5; @%p1 bra B;\nA: add.s32 %r6, %r5, 1; setp.gt.s32 %p2, %r6, %r1; "
                             "@%p2 bra E;\nB: add.s32 %r7, %r5, 2; setp.gt.s32 %p3, %r7, %r1; @%p3 bra A;\nE: ret;\n");
  const std::uint32_t end = a.cfg.block_of[a.function().body.size() - 1];
  EXPECT_EQ(a.cfg.blocks[0].post_dominator, end);
  for (std::uint32_t b : a.cfg.order) {
    if (b != end) {
      EXPECT_NE(a.cfg.blocks[b].post_dominator, a.cfg.exit());
    }
  }
}

TEST(ControlFlow, EndlessLoopHasAPostDominator) {
  const Analysed a = analyse("L: bra L;\n");
  EXPECT_EQ(a.cfg.blocks[0].post_dominator, a.cfg.exit());
  EXPECT_TRUE(a.cfg.blocks[0].loop_head);
}

// Names of the parameters that form the address of the last memory instruction.
std::string origins_of(const std::string& body) {
  const Analysed a = analyse(".shared .b8 s[64]; ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x;" +
                             body + " ld.global.u32 %r30, [%rd9]; ret;\n");
  const flow::Provenance provenance(a.function(), a.cfg);
  const auto& body_of = a.function().body;
  std::string out;
  for (const flow::AddressSource& s : provenance.of(body_of[body_of.size() - 2].operands[1]))
    out += (out.empty() ? "" : " ") + a.function().variables[s.index].name;
  return out;
}

// `_` is one of the results, although it is not a register.
TEST(Forms, ASinkIsTheFirstResult) {
  const Analysed a = analyse("elect.sync _|%p1, -1; elect.sync %r1|%p2, -1; ret;\n");
  EXPECT_EQ(a["%p1"].kind, FormKind::varying);
  EXPECT_EQ(a["%p2"].kind, FormKind::varying);
  EXPECT_EQ(a["%r1"].kind, FormKind::uniform);
}

TEST(Provenance, ASinkIsTheFirstElement) {
  const Analysed a = analyse("ld.param.v2.u64 {_, %rd9}, [p]; ld.global.u32 %r30, [%rd9]; ret;\n");
  const flow::Provenance provenance(a.function(), a.cfg);
  const auto sources = provenance.of(a.function().body[1].operands[1]);
  ASSERT_EQ(sources.size(), 1u);
  EXPECT_EQ(sources[0].offset, 8);
}

TEST(Provenance, FollowsArithmeticAndStopsAtMemory) {
  EXPECT_EQ(origins_of("mul.wide.u32 %rd2, %r2, 4; add.s64 %rd9, %rd1, %rd2;"), "p");
  EXPECT_EQ(
      origins_of(
          "cvta.to.global.u64 %rd2, %rd1; cvt.u64.u32 %rd3, %r1; shl.b64 %rd4, %rd3, 2; sub.s64 %rd9, %rd2, %rd4;"),
      "p");
  EXPECT_EQ(origins_of("mad.wide.u32 %rd9, %r1, 8, %rd1;"), "p");
  EXPECT_EQ(origins_of("ld.global.u64 %rd9, [%rd1];"), "");
  EXPECT_EQ(origins_of("ld.global.u64 %rd2, [%rd1]; add.s64 %rd9, %rd1, %rd2;"), "");  // an offset, or a pointer
  EXPECT_EQ(origins_of("ld.global.u64 %rd2, [%rd1]; shl.b64 %rd3, %rd2, 2; add.s64 %rd9, %rd1, %rd3;"),
            "p");  // an index
  EXPECT_EQ(origins_of("ld.global.u32 %r3, [%rd1]; mad.wide.u32 %rd9, %r3, 4, %rd1;"), "p");
  EXPECT_EQ(origins_of("mov.b64 {%r3, %r4}, %rd1; mov.b64 %rd9, {%r3, %r4};"), "");
  EXPECT_EQ(origins_of("mov.u64 %rd2, s; setp.eq.u32 %p1, %r2, 0; selp.b64 %rd9, %rd1, %rd2, %p1;"), "p s");
  EXPECT_EQ(origins_of("mov.u64 %rd9, %rd1; L: add.s64 %rd9, %rd9, 4; setp.eq.u32 %p1, %r2, 0; @%p1 bra L;"), "p");
  EXPECT_EQ(
      origins_of(
          "mov.u64 %rd2, s; mov.u64 %rd9, %rd1; L: setp.eq.u32 %p1, %r2, 0; @%p1 mov.u64 %rd9, %rd2; @%p1 bra L;"),
      "p s");
  // A count and a truth value are no pointers, whatever they are made from.
  EXPECT_EQ(
      origins_of("ld.global.u64 %rd2, [%rd1]; popc.b64 %r3, %rd2; cvt.u64.u32 %rd3, %r3; add.s64 %rd9, %rd1, %rd3;"),
      "p");
  EXPECT_EQ(
      origins_of("mov.u64 %rd2, s; set.eq.u32.u64 %r3, %rd2, 0; cvt.u64.u32 %rd3, %r3; add.s64 %rd9, %rd1, %rd3;"),
      "p");
}

TEST(ThreadForms, ANegativeIsAMultiple) {
  const Analysed a = analyse(
      "mov.u32 %r1, %tid.x; neg.s32 %r2, %r1; mul.wide.s32 %rd9, %r2, 4; ld.global.u32 %r3, [%rd9]; "
      "ret;\n");
  const flow::Definitions definitions = flow::find_definitions(a.function());
  flow::LaunchNumbers launch;
  launch.grid = {1, 1, 1};
  launch.block = {32, 1, 1};
  flow::ThreadForms forms(definitions, launch);
  const auto address = forms.address(definitions.function.body[3].operands[1]);
  ASSERT_TRUE(address.has_value());
  EXPECT_EQ(address->steps[0], -4);
}

// Bytes between neighbouring lanes for the address of the last access.
std::int64_t step_of(const std::string& body) {
  const Analysed a = analyse(std::string(kGlobalIndex) + body + " ld.global.u32 %r30, [%rd9]; ret;\n");
  const flow::LaneSteps steps(a.function(), a.cfg, a.forms.forms);
  const auto& body_of = a.function().body;
  return steps.of(body_of[body_of.size() - 2].operands[1]);
}

TEST(LaneSteps, AreGuessedFromTheConstants) {
  // The first loop of a grid-stride copy that nvcc has unrolled: lanes leave it after different numbers of turns.
  const std::string unrolled =
      "div.u32 %r6, %r5, %r1; mov.u32 %r7, %r5; L: add.s32 %r7, %r7, %r3; add.s32 %r6, %r6, -1; "
      "setp.ne.s32 %p1, %r6, 0; @%p1 bra L;\n";
  EXPECT_EQ(step_of(unrolled + "mul.wide.s32 %rd2, %r7, 12; add.s64 %rd9, %rd1, %rd2;"), 12);
  EXPECT_EQ(step_of(unrolled + "shl.b32 %r8, %r7, 1; mad.wide.s32 %rd9, %r8, 4, %rd1;"), 8);
  EXPECT_EQ(step_of(unrolled + "not.b32 %r8, %r7; mad.wide.s32 %rd9, %r8, 4, %rd1;"), -4);
  EXPECT_EQ(step_of(unrolled + "mad.lo.s32 %r8, %r1, %r1, %r7; mad.wide.s32 %rd9, %r8, 4, %rd1;"), 4);
  EXPECT_EQ(step_of("ld.global.u32 %r8, [%rd1]; mad.wide.s32 %rd9, %r8, 32, %rd1;"), 0);  // one address
  EXPECT_EQ(step_of("mad.wide.s32 %rd2, %r5, 4, %rd1; ld.global.u32 %r8, [%rd2]; mad.wide.s32 %rd9, %r8, 32, %rd1;"),
            32);
  EXPECT_EQ(step_of("mul.wide.s32 %rd2, %r5, 4; add.s64 %rd9, %rd1, %rd2;"), 4);
  EXPECT_EQ(step_of("mul.wide.s32 %rd2, %r5, 1; shl.b64 %rd3, %rd2, 63; add.s64 %rd9, %rd1, %rd3;"), 0);  // too long
  // The guess ignores growth by sums in a loop.
  EXPECT_EQ(step_of("mov.u32 %r7, 0; L: add.s32 %r7, %r7, %r5; setp.lt.s32 %p1, %r7, %r1; @%p1 bra L; "
                    "mad.wide.s32 %rd9, %r7, 4, %rd1;"),
            4);
}

}  // namespace
