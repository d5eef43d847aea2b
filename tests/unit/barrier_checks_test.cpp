// The checkers of barriers, warp synchronisation and mbarriers, on kernels that a virtual GPU runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "checkers/checker.h"
#include "ptx_kernel.h"

namespace warpgrind::checkers {

std::unique_ptr<Checker> make_barriers(const Known& known);
std::unique_ptr<Checker> make_warp_syncs(const Known& known);
std::unique_ptr<Checker> make_mbarriers(const Known& known);

namespace {

using device::Kernel;
using Make = std::unique_ptr<Checker> (*)(const Known&);

// Runs one grid of such blocks and returns the checker's findings.
std::vector<results::Finding> check(Make make, const std::string& body, unsigned threads, unsigned blocks = 1,
                                    unsigned workers = 1, const std::string& module_text = "") {
  const Objects objects;
  const Works works;
  const Known known{objects, works, **find_gpu_model("h200")};
  const std::unique_ptr<Checker> checker = make(known);
  {
    Kernel kernel(body, workers, checker.get(), module_text);
    kernel.try_run(threads, blocks);
  }
  std::vector<results::Finding> findings;
  checker->report(findings);
  return findings;
}

std::string kinds(const std::vector<results::Finding>& findings) {
  std::string text;
  for (const results::Finding& f : findings)
    text += (text.empty() ? "" : " ") + f.kind + (f.severity == results::Severity::error ? "" : "(warning)");
  return text;
}

const std::string kStore = "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r1;\n";

TEST(Barriers, EarlyReturnIsNone) {
  const std::string body = "setp.ge.u32 %p1, %r1, 40; @%p1 ret;\nbar.sync 0;\n" + kStore + "bar.sync 0;";
  EXPECT_EQ(kinds(check(make_barriers, body, 64)), "");
}

TEST(Barriers, EarlyReturnByJumps) {  // as in code compiled without optimisation
  const std::string function = ".func f() { bar.sync 0; ret; }\n";
  const std::string body =
      "setp.lt.u32 %p1, %r1, 40; @%p1 bra STAY; bra.uni LEAVE;\nLEAVE: bra.uni END;\nSTAY: call f;\n" + kStore +
      "bra.uni END;\nEND:";
  EXPECT_EQ(kinds(check(make_barriers, body, 64, 1, 1, function)), "");
  Kernel kernel(body, 1, nullptr, function);
  EXPECT_TRUE(kernel.run(64).warnings.empty());
}

TEST(Barriers, PartOfAWarp) {
  const std::string body = "setp.ge.u32 %p1, %r1, 40; @%p1 bra OVER;\nbar.sync 0;\nOVER:" + kStore + "bar.sync 0;";
  const auto found = check(make_barriers, body, 64, 3);
  ASSERT_EQ(kinds(found), "barrier-divergent-warp");
  ASSERT_EQ(found[0].accesses.size(), 2u);
  EXPECT_EQ(found[0].accesses[0].thread, (Dim3{32, 0, 0}));
  EXPECT_EQ(found[0].accesses[1].thread, (Dim3{40, 0, 0}));
  EXPECT_EQ(found[0].block, (Dim3{0, 0, 0}));
  EXPECT_EQ(found[0].count, 3u);
}

// Each thread counts separately: PTX also has barriers that are not aligned.
TEST(Barriers, NotAligned) {
  const std::string body =
      "setp.ge.u32 %p1, %r1, 40; @%p1 bra OTHER;\nbarrier.sync 0;\nbra.uni END;\nOTHER: barrier.sync "
      "0;\n" +
      kStore + "END:";
  EXPECT_EQ(kinds(check(make_barriers, body, 64)), "barrier-divergent-block(warning)");
}

TEST(Barriers, TwoPlacesByWarp) {
  const std::string body =
      "setp.ge.u32 %p1, %r1, 32; @%p1 bra OTHER;\nbar.sync 0;\nbra.uni END;\nOTHER: bar.sync 0;\n" + kStore + "END:";
  EXPECT_EQ(kinds(check(make_barriers, body, 64)), "barrier-divergent-block(warning)");
  const std::string reduces =
      "setp.ge.u32 %p1, %r1, 32; @%p1 bra OTHER;\nbar.sync 0;\nbra.uni END;\nOTHER: bar.red.popc.u32 %r2, 0, %p1;\n" +
      kStore + "END:";
  EXPECT_EQ(kinds(check(make_barriers, reduces, 64)), "barrier-divergent-block");
}

// Producers arrive and consumers wait; pairs of warps have separate barriers.
TEST(Barriers, NamedBarriersOfSomeWarps) {
  const std::string pair =
      "setp.ge.u32 %p1, %r1, 32; @%p1 bra OTHER;\nbar.arrive 1, 64;\nbar.sync 2, 64;\nbra.uni END;\n"
      "OTHER: bar.sync 1, 64;\nbar.arrive 2, 64;\n" +
      kStore + "END:";
  EXPECT_EQ(kinds(check(make_barriers, pair, 64)), "");
  const std::string own =
      "shr.u32 %r2, %r1, 6; add.u32 %r2, %r2, 1;\nbar.sync %r2, 64;\n" + kStore + "bar.sync %r2, 64;";
  EXPECT_EQ(kinds(check(make_barriers, own, 128)), "");
}

TEST(Barriers, Counts) {
  EXPECT_EQ(kinds(check(make_barriers, "bar.sync 1, 48;", 64)), "barrier-count");
  EXPECT_EQ(kinds(check(make_barriers, "bar.sync 1, 96;", 64)), "barrier-count");  // more threads than the block has
  EXPECT_EQ(kinds(check(make_barriers, "bar.sync 1, 64;", 48)), "");               // whole warps
  const std::string two =
      "setp.ge.u32 %p1, %r1, 32; @%p1 bra OTHER;\nbar.sync 1, 64;\nbra.uni END;\nOTHER: bar.sync 1, "
      "96;\nEND:";
  const auto found = check(make_barriers, two, 128);
  ASSERT_EQ(kinds(found), "barrier-count");
  EXPECT_EQ(found[0].accesses.size(), 2u);
  const std::string one_named =
      "setp.ge.u32 %p1, %r1, 32; @%p1 bra OTHER;\nbar.sync 1, 64;\nbra.uni END;\nOTHER: bar.sync 1;\nEND:";
  EXPECT_EQ(kinds(check(make_barriers, one_named, 64)), "barrier-count");
  const std::string twice = "setp.ge.u32 %p1, %r1, 32; @%p1 bra END;\nbar.arrive 1, 64;\nbar.sync 1, 64;\nEND:";
  EXPECT_EQ(kinds(check(make_barriers, twice, 64)), "barrier-count");
}

TEST(WarpSyncs, CallerNotNamed) {
  const auto found = check(make_warp_syncs, "setp.gt.u32 %p1, %r1, 16; @%p1 ret;\nbar.warp.sync 0xffff;", 32);
  ASSERT_EQ(kinds(found), "syncwarp-mask");
  EXPECT_EQ(found[0].thread, (Dim3{16, 0, 0}));
}

TEST(WarpSyncs, LanesThatLeft) {
  // The lanes return at once.
  EXPECT_EQ(kinds(check(make_warp_syncs, "setp.ge.u32 %p1, %r1, 20; @%p1 ret;\nbar.warp.sync -1;\n" + kStore, 32)), "");
  EXPECT_EQ(kinds(check(make_warp_syncs,
                        "setp.ge.u32 %p1, %r1, 20; @%p1 bra END;\nbar.warp.sync -1;\n" + kStore + "END:", 32)),
            "");
  // The lanes go on past it.
  const std::string body =
      "setp.ge.u32 %p1, %r1, 20; @%p1 bra OTHER;\nbar.warp.sync -1;\nbra.uni END;\nOTHER: add.u32 %r1, %r1, 0;\nEND:" +
      kStore;
  EXPECT_EQ(kinds(check(make_warp_syncs, body, 32)), "syncwarp-mask(warning)");
}

// Lanes from any path meet at the same operation.
TEST(WarpSyncs, SameOperationAtTwoPlaces) {
  const auto body = [](const char* other) {
    return std::string("setp.ge.u32 %p1, %r1, 16; @%p1 bra OTHER;\nbar.warp.sync -1;\nbra.uni END;\nOTHER:") + other +
           "\n" + kStore + "END:";
  };
  EXPECT_EQ(kinds(check(make_warp_syncs, body("bar.warp.sync -1;"), 32)), "");
  EXPECT_EQ(kinds(check(make_warp_syncs, body("shfl.sync.idx.b32 %r3, %r1, 0, 31, -1;"), 32)), "syncwarp-mask");
}

// Lanes 0 to 15 shuffle. The test follows the values read from absent lanes.
TEST(WarpSyncs, ShuffleOfAbsentLanes) {
  const auto body = [](const std::string& then) {
    return "setp.ge.u32 %p1, %r1, 16; @%p1 ret;\nshfl.sync.down.b32 %r2|%p2, %r1, 8, 31, 0xffff;\n" + then;
  };
  const std::string store = "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r3;\n";
  const auto found = check(make_warp_syncs, body("add.u32 %r3, %r2, 1;\n" + store), 32);
  ASSERT_EQ(kinds(found), "shuffle-inactive-lane");
  EXPECT_EQ(found[0].thread, (Dim3{8, 0, 0}));
  EXPECT_EQ(kinds(check(make_warp_syncs,
                        body("add.u32 %r3, %r2, 1; setp.gt.u32 %p3, %r3, 4; @%p3 bra END;\n" + store + "END:"), 32)),
            "shuffle-inactive-lane");
  // Not used; thrown away; perhaps used; overwritten; passed on to lanes that may not use it.
  for (const char* then :
       {"mov.u32 %r3, 0;\n", "setp.lt.u32 %p3, %r1, 8; selp.b32 %r3, %r2, %r1, %p3;\n",
        "mov.u32 %r3, %r1; setp.lt.u32 %p3, %r1, 8; @%p3 add.u32 %r3, %r3, %r2;\n",
        "setp.lt.u32 %p3, %r1, 8; mov.u32 %r3, %r2; @!%p3 bra SET; bra.uni JOIN; SET: mov.u32 %r3, 0; JOIN:\n",
        "add.u32 %r3, %r1, %r2; shfl.sync.idx.b32 %r3, %r3, 0, 31, 0xffff;\n"})
    EXPECT_EQ(kinds(check(make_warp_syncs, body(then + store), 32)), "") << then;
  EXPECT_EQ(kinds(check(make_warp_syncs,
                        body("add.u32 %r3, %r1, %r2; setp.ne.u32 %p3, %r1, 0; @%p3 bra END;\n" + store + "END:"), 32)),
            "");
}

// Of the readers, only lane 9 gets to the store.
TEST(WarpSyncs, OneReaderOfAbsentLanesUsesTheValue) {
  const auto found = check(make_warp_syncs,
                           "setp.ge.u32 %p1, %r1, 16; @%p1 ret;\nshfl.sync.down.b32 %r2|%p2, %r1, 8, 31, 0xffff;\n"
                           "setp.ne.u32 %p3, %r1, 9; @%p3 bra END;\nst.global.u32 [%rd1], %r2;\nEND:",
                           32);
  ASSERT_EQ(kinds(found), "shuffle-inactive-lane");
  EXPECT_EQ(found[0].thread, (Dim3{9, 0, 0}));
  EXPECT_EQ(found[0].accesses[0].object, "lane 9 of warp 0");
}

TEST(MBarriers, RightUse) {
  const std::string body =
      "mov.u32 %r5, memory; setp.ne.u32 %p1, %r1, 0; @%p1 bra MADE;\nmbarrier.init.shared.b64 [%r5], 64;\nMADE: "
      "bar.sync "
      "0;\nmbarrier.arrive.shared.b64 %rd5, [%r5];\nWAIT: mbarrier.try_wait.shared.b64 %p2, [%r5], %rd5; @!%p2 bra "
      "WAIT;\n"
      "mbarrier.arrive.shared.b64 %rd5, [%r5];\nAGAIN: mbarrier.try_wait.shared.b64 %p2, [%r5], %rd5; @!%p2 bra "
      "AGAIN;\n" +
      kStore + "bar.sync 0; @%p1 ret; mbarrier.inval.shared.b64 [%r5]; mbarrier.init.shared.b64 [%r5], 1;";
  EXPECT_EQ(kinds(check(make_mbarriers, body, 64, 2)), "");
}

TEST(MBarriers, WrongUse) {
  const std::string bar = "mov.u32 %r5, memory;\n", init = "mbarrier.init.shared.b64 [%r5], 2;\n";
  EXPECT_EQ(kinds(check(make_mbarriers, bar + "mbarrier.arrive.shared.b64 %rd5, [%r5];", 1)), "mbarrier-uninit");
  EXPECT_EQ(kinds(check(make_mbarriers, bar + init + "mbarrier.arrive.shared.b64 %rd5, [%r5], 3;", 1)),
            "mbarrier-overflow");
  EXPECT_EQ(kinds(check(make_mbarriers, bar + init + "mbarrier.arrive.shared.b64 %rd5, [%r5];\n" + init, 1)),
            "mbarrier-reuse");
  EXPECT_EQ(kinds(check(make_mbarriers, bar + init + init, 1)), "mbarrier-reuse(warning)");
  EXPECT_EQ(
      kinds(check(make_mbarriers,
                  bar + init + "mbarrier.inval.shared.b64 [%r5];\n" + "mbarrier.arrive.shared.b64 %rd5, [%r5];", 1)),
      "mbarrier-uninit");
  EXPECT_EQ(kinds(check(make_mbarriers, bar + init + "mbarrier.arrive.expect_tx.shared.b64 %rd5, [%r5], 16;", 1)),
            "mbarrier-exit");
}

// The same with two workers: the first one in the GPU's numbering is reported, and all are counted.
TEST(Barriers, AnyNumberOfWorkers) {
  const std::string body = "setp.ge.u32 %p1, %r1, 40; @%p1 bra OVER;\nbar.sync 0;\nOVER:" + kStore + "bar.sync 0;";
  for (const unsigned workers : {1u, 2u, 4u}) {
    const auto found = check(make_barriers, body, 64, 200, workers);
    ASSERT_EQ(kinds(found), "barrier-divergent-warp");
    EXPECT_EQ(found[0].count, 200u);
    EXPECT_EQ(found[0].block, (Dim3{0, 0, 0}));
  }
}

}  // namespace
}  // namespace warpgrind::checkers
