// Branches, guards and addresses that depend on data, in small kernels in PTX text.
#include <gtest/gtest.h>

#include "flow/data_dependence.h"
#include "ptx/parser.h"

namespace {

using namespace warpgrind;
using Kind = flow::DataDependence::Kind;

constexpr char kHeader[] = ".version 8.0\n.target sm_90\n.address_size 64\n";
constexpr char kKernel[] =
    ".visible .entry k(.param .u64 p, .param .u32 n) {\n"
    ".reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<32>; .reg .f32 %f<8>; .shared .b32 s[64]; .local .b32 l[8];\n"
    "ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %tid.x;\n"
    "mul.wide.u32 %rd2, %r3, 4; add.s64 %rd3, %rd1, %rd2; mov.u64 %rd4, s; add.s64 %rd5, %rd4, %rd2;\n";

// What `ask` says of the kernel with this body.
template <class Ask>
auto of_kernel(const std::string& body, const std::string& before, const Ask& ask) {
  auto parsed = ptx::parse(kHeader + before + kKernel + body + "}\n", "test.ptx");
  EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().message + parsed.error().detail);
  decltype(ask(**parsed, 0)) answer{};
  if (!parsed.ok()) return answer;
  const ptx::Module& module = **parsed;
  for (std::uint32_t f = 0; f < module.functions.size(); ++f)
    if (module.functions[f].name == "k") answer = ask(module, f);
  return answer;
}

std::optional<flow::DataDependence> find(const std::string& body, const std::string& before = "") {
  return of_kernel(body, before, flow::find_data_dependence);
}
// Of `p`, a pointer, and `n`.
std::vector<bool> deciding(const std::string& body, const std::string& before = "") {
  return of_kernel(body, before, flow::deciding_parameters);
}
flow::Rounds rounds(const std::string& body, const std::string& before = "") {
  return of_kernel(body, before, flow::rounds_of_loops);
}

TEST(DataDependence, ParametersIndexesAndLoopsAreKnown) {
  EXPECT_FALSE(
      find("L: ld.global.f32 %f1, [%rd3]; add.f32 %f2, %f2, %f1; add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, %r1;\n"
           "@%p1 bra L; setp.ge.u32 %p2, %r3, %r2; @%p2 bra E; st.global.f32 [%rd3], %f2; E: ret;\n"));
}

TEST(DataDependence, BranchOnWhatIsLoaded) {
  const auto found =
      find("ld.global.u32 %r4, [%rd3]; setp.lt.u32 %p1, %r4, %r1; @%p1 bra E; st.global.u32 [%rd3], %r2; E: ret;\n");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, Kind::branch);
  EXPECT_EQ(found->source + 2, found->instruction);
}

TEST(DataDependence, GuardOnWhatIsLoaded) {
  const auto found =
      find("ld.global.u32 %r4, [%rd3]; setp.lt.u32 %p1, %r4, %r1; @%p1 st.global.u32 [%rd3], %r2; ret;\n");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, Kind::guard);
}

TEST(DataDependence, SelectionsDoNotDepend) {
  EXPECT_FALSE(
      find("ld.global.u32 %r4, [%rd3]; setp.lt.u32 %p1, %r4, %r1; selp.u32 %r5, %r4, %r1, %p1;\n"
           "st.global.u32 [%rd3], %r5; ret;\n"));
}

TEST(DataDependence, Gather) {
  const auto found = find(
      "ld.global.u32 %r4, [%rd3]; mul.wide.u32 %rd6, %r4, 4; add.s64 %rd7, %rd1, %rd6;\n"
      "ld.global.f32 %f1, [%rd7]; st.global.f32 [%rd3], %f1; ret;\n");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, Kind::address);
}

TEST(DataDependence, SharedMemoryIsKnownUntilDataIsWrittenThere) {
  const std::string use = "ld.shared.u32 %r5, [%rd5]; setp.lt.u32 %p1, %r5, %r1; @%p1 bra E; bar.sync 0; E: ret;\n";
  EXPECT_FALSE(find("st.shared.u32 [%rd5], %r3; bar.sync 0; " + use));
  EXPECT_TRUE(find("ld.global.u32 %r4, [%rd3]; st.shared.u32 [%rd5], %r4; bar.sync 0; " + use));
  EXPECT_TRUE(find("cp.async.ca.shared.global [%rd5], [%rd3], 4; cp.async.wait_all; bar.sync 0; " + use));
  EXPECT_TRUE(find("atom.shared.add.u32 %r4, [%rd5], %r3; bar.sync 0; " + use));
}

TEST(DataDependence, LocalMemoryLikewise) {
  const std::string use = "ld.local.u32 %r5, [l+4]; setp.lt.u32 %p1, %r5, %r1; @%p1 bra E; bar.sync 0; E: ret;\n";
  EXPECT_FALSE(find("st.local.u32 [l+4], %r3; " + use));
  EXPECT_TRUE(find("ld.global.u32 %r4, [%rd3]; st.local.u32 [l], %r4; " + use));
}

TEST(DataDependence, ShufflesAndVotesPassDataOn) {
  EXPECT_TRUE(
      find("ld.global.u32 %r4, [%rd3]; shfl.sync.bfly.b32 %r5, %r4, 1, 31, -1; setp.eq.u32 %p1, %r5, 0;\n"
           "vote.sync.any.pred %p2, %p1, -1; @%p2 bra E; bar.sync 0; E: ret;\n"));
  EXPECT_FALSE(
      find("shfl.sync.bfly.b32 %r5, %r3, 1, 31, -1; setp.eq.u32 %p1, %r5, 0;\n"
           "vote.sync.any.pred %p2, %p1, -1; @%p2 bra E; bar.sync 0; E: ret;\n"));
}

TEST(DataDependence, ClocksAreNotKnown) {
  EXPECT_TRUE(find("L: mov.u32 %r4, %clock; setp.lt.u32 %p1, %r4, %r1; @%p1 bra L; ret;\n"));
}

TEST(DataDependence, ConstantMemoryIsKnown) {
  EXPECT_FALSE(find("ld.const.u32 %r4, [c]; setp.lt.u32 %p1, %r4, %r1; @%p1 bra E; bar.sync 0; E: ret;\n",
                    ".const .b32 c[4];\n"));
}

TEST(DataDependence, WaitsForBarriersInMemoryAreKnown) {
  EXPECT_FALSE(
      find("mbarrier.init.shared.b64 [s], 1; cp.async.ca.shared.global [%rd5], [%rd3], 4;\n"
           "L: mbarrier.try_wait.parity.shared::cta.b64 %p1, [s], 0; @!%p1 bra L; ret;\n"));
}

constexpr char kSame[] =
    ".func (.param .b32 r) same(.param .b32 x) { .reg .b32 %a<2>; ld.param.b32 %a1, [x]; st.param.b32 [r], %a1; ret; "
    "}\n";

TEST(DataDependence, FunctionsPassDataOn) {
  const std::string use =
      "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r4; call (b), same, (a); ld.param.b32 %r5, [b]; }\n"
      "setp.eq.u32 %p1, %r5, 0; @%p1 bra E; bar.sync 0; E: ret;\n";
  EXPECT_FALSE(find("mov.u32 %r4, %r3; " + use, kSame));
  EXPECT_TRUE(find("ld.global.u32 %r4, [%rd3]; " + use, kSame));
}

constexpr char kLoopToR1[] = "L: add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, %r1; @%p1 bra L;\n";

TEST(RoundsOfLoops, AreEqualUpToAParameter) {
  EXPECT_EQ(flow::Rounds::equal, rounds(std::string(kLoopToR1) + "ret;\n"));
  EXPECT_EQ(flow::Rounds::equal,
            rounds("mov.u32 %r5, %ntid.x; add.u32 %r1, %r1, %r5;\n" + std::string(kLoopToR1) + "ret;\n"));
  EXPECT_EQ(flow::Rounds::equal, rounds("ret;\n"));
}

TEST(RoundsOfLoops, DifferWithTheThreadTheBlockAndData) {
  for (const char* const bound :
       {"add.u32 %r1, %r1, %r2;\n", "add.u32 %r1, %r1, %r3;\n", "ld.global.u32 %r1, [%rd3];\n"})
    EXPECT_EQ(flow::Rounds::differ, rounds(bound + std::string(kLoopToR1) + "ret;\n")) << bound;
}

TEST(RoundsOfLoops, DifferWhereSomeThreadsSkipTheLoop) {
  const std::string skip = "setp.ge.u32 %p2, %r3, 5; @%p2 bra E;\n", end = "E: ret;\n";
  EXPECT_EQ(flow::Rounds::differ, rounds(skip + kLoopToR1 + end));
  EXPECT_EQ(flow::Rounds::equal, rounds(kLoopToR1 + skip + "st.global.u32 [%rd3], %r4; " + end))
      << "no loop comes after it";
}

TEST(RoundsOfLoops, OfAFunctionThatIsCalled) {
  const std::string sums =
      ".func sums(.param .b32 x) { .reg .b32 %a<3>; .reg .pred %q<2>; ld.param.b32 %a1, [x];\n"
      "M: add.u32 %a2, %a2, 1; setp.lt.u32 %q1, %a2, %a1; @%q1 bra M; ret; }\n";
  const std::string call = "{ .param .b32 a; st.param.b32 [a], %r4; call sums, (a); }\nret;\n";
  EXPECT_EQ(flow::Rounds::differ, rounds("mov.u32 %r4, %r3;\n" + call, sums));
  EXPECT_EQ(flow::Rounds::equal, rounds("mov.u32 %r4, %r1;\n" + call, sums));
}

// The step of a depth-first search: the branch that ends the loop compares a number that no data flow into.
TEST(RoundsOfLoops, DifferWithWhatABranchAssigns) {
  EXPECT_EQ(flow::Rounds::differ,
            rounds("mov.u32 %r4, 9;\nL: add.u32 %r4, %r4, -1; ld.global.u32 %r5, [%rd3]; setp.eq.u32 %p2, %r5, 0;\n"
                   "@%p2 bra S; add.u32 %r4, %r4, 2;\nS: setp.ne.u32 %p1, %r4, 0; @%p1 bra L; ret;\n"));
}

// A queue of work, and a flag that another block sets. Where the result of an atomic is only an address, warps do not
// depend on each other.
TEST(RoundsOfLoops, AskOtherWarps) {
  EXPECT_EQ(flow::Rounds::asked,
            rounds("L: atom.global.add.u32 %r4, [%rd1], 1; setp.lt.u32 %p1, %r4, %r1; @%p1 bra L; ret;\n"));
  EXPECT_EQ(flow::Rounds::asked,
            rounds("L: ld.volatile.global.u32 %r4, [%rd1]; setp.eq.u32 %p1, %r4, 0; @%p1 bra L; ret;\n"));
  EXPECT_EQ(flow::Rounds::asked, rounds("atom.global.add.u32 %r5, [%rd1], 1; st.shared.u32 [s], %r5; bar.sync 0;\n"
                                        "ld.shared.u32 %r6, [s]; setp.ne.u32 %p2, %r6, 7; @%p2 bra E;\n" +
                                        std::string(kLoopToR1) + "E: ret;\n"));
  EXPECT_EQ(
      flow::Rounds::differ,
      rounds("L: ld.global.u32 %r4, [%rd3]; atom.global.add.u32 %r5, [%rd1], 1; mul.wide.u32 %rd6, %r5, 4;\n"
             "add.u64 %rd7, %rd1, %rd6; st.global.u32 [%rd7], %r4; setp.lt.u32 %p1, %r4, %r1; @%p1 bra L; ret;\n"));
  EXPECT_EQ(flow::Rounds::differ,
            rounds("L: ld.global.u32 %r4, [%rd3]; atom.global.add.u32 %r5, [%rd1], 1; setp.ge.u32 %p2, %r5, 100;\n"
                   "@%p2 bra S; st.global.u32 [%rd3], %r4;\nS: setp.lt.u32 %p1, %r4, %r1; @%p1 bra L; ret;\n"))
      << "only a store depends on the atomic";
}

using Deciding = std::vector<bool>;

// A factor, as the step of an iteration: it is stored, and selects a value.
TEST(DecidingParameters, NotWhatIsStored) {
  EXPECT_EQ((Deciding{true, false}),
            deciding("ld.global.u32 %r4, [%rd3]; setp.lt.u32 %p1, %r4, %r1; selp.b32 %r5, %r4, %r1, %p1;\n"
                     "st.shared.u32 [%rd5], %r5; bar.sync 0; ld.shared.u32 %r6, [s];\n"
                     "mad.lo.u32 %r6, %r5, %r6, %r1; st.global.u32 [%rd3], %r6; ret;\n"));
  EXPECT_EQ((Deciding{false, false}), deciding("ret;\n"));
}

TEST(DecidingParameters, BranchesGuardsAndAddresses) {
  const Deciding both{true, true};
  EXPECT_EQ(both, deciding("setp.lt.u32 %p1, %r3, %r1; @%p1 bra E; st.global.u32 [%rd3], %r2; E: ret;\n"));
  EXPECT_EQ(both, deciding("setp.lt.u32 %p1, %r3, %r1; @%p1 st.global.u32 [%rd3], %r2; ret;\n"));
  EXPECT_EQ(both, deciding("mul.wide.u32 %rd6, %r1, 4; add.u64 %rd7, %rd3, %rd6; st.global.u32 [%rd7], %r2; ret;\n"));
  EXPECT_EQ(both, deciding("st.shared.u32 [s], %r1; bar.sync 0; ld.shared.u32 %r4, [s+4]; st.global.u32 [%rd3], %r2;\n"
                           "setp.lt.u32 %p1, %r3, %r4; @%p1 bra E; st.global.u32 [%rd3], %r2; E: ret;\n"));
  EXPECT_EQ(both, deciding("st.global.u32 [%rd3], %r2; bar.sync 0, %r1; ret;\n"));
}

// Through a function, or by the parameter's address.
TEST(DecidingParameters, InOtherPlaces) {
  const std::string skips =
      ".func skips(.param .b32 x) { .reg .b32 %a<3>; .reg .pred %q<2>; ld.param.b32 %a1, [x];\n"
      "setp.lt.u32 %q1, %a1, 7; @%q1 bra M; bar.sync 0; M: ret; }\n";
  const std::string call =
      "{ .param .b32 a; st.param.b32 [a], %r4; call skips, (a); }\nst.global.u32 [%rd3], %r2; ret;\n";
  EXPECT_EQ((Deciding{true, true}), deciding("mov.u32 %r4, %r1;\n" + call, skips));
  EXPECT_EQ((Deciding{true, false}), deciding("mov.u32 %r4, %r3;\n" + call, skips));
  EXPECT_EQ((Deciding{true, true}),
            deciding("mov.u64 %rd6, n; ld.param.u32 %r4, [%rd6]; st.global.u32 [%rd3], %r4; ret;\n"));
}

}  // namespace
