// Rules of tensor memory: operands that leave out parts of a product, what is reported of a program that does not wait
// or does not free, and faults. Not held against hardware.
#include "device_tensor_fixture.h"

namespace warpgrind::device {
namespace {

// ---- Operands of products that leave out parts

TensorRun ones_run(unsigned n) {
  TensorRun run;
  SharedMatrix left, right;
  left.stride = right.stride = 128;
  left.leading = 128 * 16, right.leading = n * 16;
  right.start = 16384;
  const std::uint16_t one = 0x3c00;
  for (unsigned line = 0; line < 128; ++line) std::memcpy(run.shared[0].data() + left.address(line, 0), &one, 2);
  for (unsigned line = 0; line < n; ++line) std::memcpy(run.shared[0].data() + right.address(line, 0), &one, 2);
  run.a = left.bits(), run.b = right.bits();
  run.i = InstructionBits{.n = n}.bits();
  run.p = false;
  return run;
}

constexpr std::uint32_t kOne = 0x3f800000;

TEST(TensorRules, LeavesDisabledLanesAsTheyAre) {
  TensorRun run = ones_run(64);
  for (std::uint32_t& word : run.before[0].words) word = 5;
  run.masks = {0x1, 0x80000000, 0, 0xffff0000, 0, 0, 0, 0};
  run.instructions = "tcgen05.mma.cta_group::1.kind::f16 [%y], %a, %b, %i, {%m0, %m1, %m2, %m3}, %p;";
  expect_no_warnings(run.run());
  for (unsigned lane = 0; lane < 128; ++lane) {
    const bool disabled = lane == 0 || lane == 63 || lane >= 112;
    EXPECT_EQ(run.after[0].at(lane, 7), disabled ? 5 : kOne) << "lane " << lane;
    EXPECT_EQ(run.after[0].at(lane, 64), 5u);  // behind the columns of D
  }
}

// Four columns are used, then three are zero (example 2 of PTX ISA, "Zero-Column Mask Descriptor").
TEST(TensorRules, TakesMaskedColumnsOfBAsZeroes) {
  TensorRun run = ones_run(64);
  run.z = std::uint64_t{1} << 39 | std::uint64_t{2} << 40 | std::uint64_t{3} << 48;
  run.instructions = "tcgen05.mma.ws.cta_group::1.kind::f16 [%y], %a, %b, %i, %p, %z;";
  expect_no_warnings(run.run());
  for (unsigned column = 0; column < 64; ++column)
    EXPECT_EQ(run.after[0].at(9, column), column % 7 < 4 ? kOne : 0) << "column " << column;
  run.z |= std::uint64_t{2} << 56;
  const LaunchResult shifted = run.run();
  ASSERT_TRUE(shifted.fault);
  EXPECT_EQ(shifted.fault->kind, FaultKind::unsupported);
  EXPECT_NE(shifted.fault->message.find("does not say which way B moves"), std::string::npos);
}

// Each group of lanes of D multiplies the rows of A that lie in its own lanes. FlashMLA computes two products at once
// with different ones (SM100_MMA_F16BF16_WS_TS_NOELECT, "dual gemm").
TEST(TensorRules, TakesRowsOfALaneGroupFromItsOwnLanes) {
  for (const unsigned m : {32u, 64u}) {
    TensorRun run = ones_run(128);
    constexpr std::uint32_t kHalves[] = {0x3c00, 0x4000, 0x4200, 0x4400},
                            kSingles[] = {kOne, 0x40000000, 0x40400000, 0x40800000};
    for (unsigned lane = 0; lane < 128; ++lane) run.before[0].at(lane, 300) = kHalves[lane / m];
    run.i = InstructionBits{.m = m, .n = 128}.bits();
    run.instructions = "tcgen05.mma.ws.cta_group::1.kind::f16 [%y], [300], %b, %i, %p;";
    expect_no_warnings(run.run());
    for (unsigned lane = 0; lane < 128; ++lane)
      for (unsigned column = 0; column < m; ++column)  // 128 columns in 128 / m groups of lanes
        EXPECT_EQ(run.after[0].at(lane, column), kSingles[lane / m]) << "lane " << lane << " column " << column;
  }
}

TEST(TensorRules, SaturatesIntegersWhereTheDescriptorSaysSo) {
  for (const bool saturate : {false, true}) {
    TensorRun run = ones_run(64);
    for (unsigned line = 0; line < 128; ++line) run.shared[0][line * 16] = 100, run.shared[0][line * 16 + 1] = 0;
    for (unsigned line = 0; line < 64; ++line)
      run.shared[0][16384 + line * 16] = 100, run.shared[0][16384 + line * 16 + 1] = 0;
    for (std::uint32_t& word : run.before[0].words) word = 0x7fffffff;
    run.i = InstructionBits{.d = 2, .a = 1, .b = 1, .saturate = saturate}.bits();
    run.p = true;
    run.instructions = "tcgen05.mma.cta_group::1.kind::i8 [%y], %a, %b, %i, %p;";
    expect_no_warnings(run.run());
    EXPECT_EQ(run.after[0].at(5, 5), saturate ? 0x7fffffffu : 0x7fffffffu + 10000u);
  }
}

// ---- Pairs of blocks

// The second block comes late. The first one uses the memory of both without another barrier (PTX ISA,
// "tcgen05.alloc": a warp of each block allocates, and they do it together).
TEST(TensorRules, LetsThePairAllocateTogether) {
  Options options;
  options.workers = 1;
  Device gpu(0, **find_gpu_model("b200"), options);
  auto module = ptx::parse(R"(
.version 8.8
.target sm_100a
.address_size 64
.shared .align 16 .b8 slot[16];
.visible .entry pair()
{
  .reg .pred %p, %q;
  .reg .b32 %rank, %n, %t, %l;
  mov.u32 %rank, %cluster_ctarank; mov.u32 %l, %laneid;
  setp.eq.u32 %p, %rank, 0; @%p bra allocate;
  mov.u32 %n, 100000;
late:
  sub.u32 %n, %n, 1; setp.ne.u32 %q, %n, 0; @%q bra late;
allocate:
  tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [slot], 32;
  ld.shared.b32 %t, [slot];
  setp.ne.u32 %q, %l, 0; or.pred %q, %q, !%p; @%q bra shifted;
  tcgen05.shift.cta_group::2.down [%t];
shifted:
  barrier.cluster.arrive; barrier.cluster.wait;
  tcgen05.dealloc.cta_group::2.sync.aligned.b32 %t, 32;
  ret;
}
)",
                           "pair.ptx");
  ASSERT_TRUE(module.ok()) << module.error().message << module.error().detail;
  auto loaded = gpu.load(*module);
  ASSERT_TRUE(loaded.ok());
  LaunchConfig config = shape({2, 1, 1}, {32, 1, 1});
  config.cluster = {2, 1, 1};
  void* none[] = {nullptr};
  auto result = gpu.launch(*loaded, 0, config, none);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_FALSE(result->fault) << result->fault->message;
}

// ---- Missing waits

std::string warnings_of_run(TensorRun run) {
  const LaunchResult r = run.run();
  EXPECT_FALSE(r.fault) << r.fault->message;
  std::string all;
  for (const Fault& w : r.warnings) all += w.message + "\n";
  return all;
}

TensorRun product_run() {
  TensorRun run;
  SharedMatrix m;
  m.stride = 128, m.leading = 2048;
  run.a = m.bits();
  run.b = m.bits();
  run.i = InstructionBits{}.bits();
  run.instructions = "tcgen05.mma.cta_group::1.kind::f16 [%y], %a, %b, %i, %p;";
  return run;
}

TEST(TensorRules, ReportsALoadBeforeTheProductIsCommitted) {
  TensorRun run = product_run();
  EXPECT_EQ(warnings_of_run(run), "");
  run.commits = run.waits = false;
  EXPECT_NE(warnings_of_run(run).find("no tcgen05.commit follows it"), std::string::npos);
}

TEST(TensorRules, ReportsALoadWithoutAWaitForTheMbarrier) {
  TensorRun run = product_run();
  run.waits = false;
  EXPECT_NE(warnings_of_run(run).find("no thread has waited for its mbarrier"), std::string::npos);
}

TEST(TensorRules, ReportsMissingWaitsOfLoadsAndStores) {
  TensorRun run = product_run();
  run.whole = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r0}, [%e];";
  EXPECT_NE(warnings_of_run(run).find("still reads"), std::string::npos);
  run.whole += "tcgen05.wait::ld.sync.aligned;";
  EXPECT_EQ(warnings_of_run(run), "");
  run.whole += "tcgen05.st.sync.aligned.32x32b.x1.b32 [%e], {%r0};";
  EXPECT_NE(warnings_of_run(run).find("tcgen05.st of PTX line"), std::string::npos);
  run.whole += "tcgen05.wait::st.sync.aligned;";
  EXPECT_EQ(warnings_of_run(run), "");
}

TEST(TensorRules, ReportsMemoryThatIsNotFreed) {
  TensorRun run = product_run();
  run.frees = false;
  EXPECT_NE(warnings_of_run(run).find("columns 0 to 511 of tensor memory, allocated here, are not freed"),
            std::string::npos);
}

TEST(TensorRules, ReportsThreadsThatAllIssueTheProduct) {
  TensorRun run = product_run();
  run.whole = "tcgen05.mma.cta_group::1.kind::f16 [%y], %a, %b, %i, %p;";
  run.commits = run.waits = false;
  EXPECT_NE(warnings_of_run(run).find("issued by 32 threads"), std::string::npos);
}

// ---- Faults

std::string fault_of_run(TensorRun run) {
  const LaunchResult r = run.run();
  return r.fault ? r.fault->message : "no fault";
}

TEST(TensorRules, RefusesLanesOfOtherWarps) {
  TensorRun run = numbered_run();
  run.whole = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r0}, [%t0];";
  EXPECT_NE(fault_of_run(run).find("warp 1 accesses lanes 0 to 31"), std::string::npos);
}

TEST(TensorRules, RefusesColumnsThatAreNotAllocated) {
  TensorRun run = numbered_run();
  run.whole = "tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r0, %r1, %r2, %r3}, [%e+510];";
  EXPECT_NE(fault_of_run(run).find("columns 510 to 513"), std::string::npos);
}

TEST(TensorRules, RefusesBadDescriptors) {
  const auto with = [](auto change) {
    TensorRun run = product_run();
    change(run);
    return fault_of_run(run);
  };
  const auto has = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(with([](TensorRun& r) { r.i = InstructionBits{.m = 96}.bits(); }), "M = 96 is not possible");
  has(with([](TensorRun& r) {
        r.i |= 31u << 17;
        r.i |= 1u << 22;
      }),
      "N = ");
  has(with([](TensorRun& r) { r.i |= 1u << 23; }), "reserved bits 23");
  has(with([](TensorRun& r) { r.i = InstructionBits{.d = 2}.bits(); }), "2 is no type of matrix D");
  has(with([](TensorRun& r) { r.i = InstructionBits{.a = 2}.bits(); }), "2 is no type of matrix A");
  has(with([](TensorRun& r) { r.i |= 4; }), "sparsity bit");
  has(with([](TensorRun& r) { r.i |= 8; }), "only integer sums saturate");
  has(with([](TensorRun& r) { r.a &= ~(std::uint64_t{7} << 46); }), "must be 0b001");
  has(with([](TensorRun& r) { r.b |= std::uint64_t{3} << 61; }), "3 is no swizzling mode");
  has(with([](TensorRun& r) { r.b |= std::uint64_t{1} << 61; }), "atoms of 32 bytes is for transposed");
  has(with([](TensorRun& r) { r.b += 0x3f00; }), "shared");
  has(with([](TensorRun& r) { r.b |= std::uint64_t{1} << 52; }), "is for a K of 96");
  has(with([](TensorRun& r) { r.y = 0x100000; }), "matrix D begins at lane 16");
  has(with([](TensorRun& r) { r.y = 480; }), "columns 480 to 543");
}

TEST(TensorRules, RefusesTheOtherGroupAndPairsWithoutACluster) {
  TensorRun run = product_run();
  run.instructions = "tcgen05.mma.cta_group::2.kind::f16 [%y], %a, %b, %i, %p;";
  EXPECT_NE(fault_of_run(run).find("needs a cluster"), std::string::npos);
}

}  // namespace
}  // namespace warpgrind::device
