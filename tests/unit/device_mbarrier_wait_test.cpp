// Lanes that wait for an mbarrier at which another lane of their warp has yet to arrive.
#include <fmt/format.h>

#include "device_fixture.h"

namespace warpgrind::device {
namespace {

// Lane 0 arrives in a branch that may also leave out the wait, so that the other lanes come to the wait first. nvcc
// makes such code of `if (threadIdx.x == 0) issue(); if (mode == 0) wait();`.
constexpr const char* kText = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry run(.param .u64 out, .param .u32 mode)
{
  .reg .pred %p, %q; .reg .b32 %r<4>; .reg .b64 %d, %s;
  .shared .align 8 .b64 barrier;
  ld.param.u64 %d, [out]; ld.param.u32 %r1, [mode]; mov.u32 %r0, %tid.x;
  setp.ne.s32 %p, %r0, 0;
  @!%p mbarrier.init.shared.b64 [barrier], 1;
  bar.sync 0;
  @%p bra others;
  setp.eq.s32 %q, %r1, 1; @%q bra passed;
  mbarrier.arrive.shared.b64 %s, [barrier];
others:
  setp.ne.s32 %q, %r1, 0; @%q bra passed;
wait:
  mbarrier.try_wait.parity.shared.b64 %q, [barrier], 0; @!%q bra wait;
passed:
  bar.sync 0;
  mov.u32 %r2, 1; red.global.add.u32 [%d], %r2;
  ret;
}
)";

TEST(MBarrierWait, LetsTheLaneArriveThatComesLater) {
  for (unsigned warps = 1; warps <= 8; ++warps) {
    SCOPED_TRACE(warps);
    Options options;
    options.workers = 1;
    options.timeout_seconds = 20;
    Device gpu(0, **find_gpu_model("h200"), options);
    auto module = ptx::parse(kText, "wait.ptx");
    ASSERT_TRUE(module.ok());
    auto loaded = gpu.load(*module);
    ASSERT_TRUE(loaded.ok());
    auto* out = reinterpret_cast<std::uint32_t*>(*gpu.allocate(4));
    *out = 0;
    std::uint32_t mode = 0;
    void* arguments[] = {&out, &mode};
    auto result = gpu.launch(*loaded, 0, shape({3, 1, 1}, {32 * warps, 1, 1}), arguments);
    ASSERT_TRUE(result.ok());
    ASSERT_FALSE(result->fault) << result->fault->message;
    EXPECT_EQ(*out, 3 * 32 * warps);
  }
}

// Thread 0 makes a new mbarrier in the same place as soon as its own wait is over, as libcu++'s test arrive_tx_cta
// does, which an H200 passes.
constexpr const char* kAgain = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry run(.param .u64 out)
{
  .reg .pred %p, %q; .reg .b32 %r<4>; .reg .b64 %d, %s;
  .shared .align 8 .b64 barrier;
  ld.param.u64 %d, [out]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ntid.x; mov.u32 %r3, 0;
  setp.ne.s32 %p, %r0, 0;
again:
  @!%p mbarrier.init.shared.b64 [barrier], %r1;
  bar.sync 0;
  mbarrier.arrive.shared.b64 %s, [barrier];
wait:
  mbarrier.try_wait.shared.b64 %q, [barrier], %s; @!%q bra wait;
  add.u32 %r3, %r3, 1; setp.lt.u32 %q, %r3, 5; @%q bra again;
  red.global.add.u32 [%d], %r3;
  ret;
}
)";

TEST(MBarrierWait, LooksBeforeTheMemoryIsUsedAgain) {
  for (unsigned warps = 1; warps <= 16; ++warps) {
    SCOPED_TRACE(warps);
    Options options;
    options.workers = 1;
    options.timeout_seconds = 20;
    Device gpu(0, **find_gpu_model("h200"), options);
    auto module = ptx::parse(kAgain, "again.ptx");
    ASSERT_TRUE(module.ok());
    auto loaded = gpu.load(*module);
    ASSERT_TRUE(loaded.ok());
    auto* out = reinterpret_cast<std::uint32_t*>(*gpu.allocate(4));
    *out = 0;
    void* arguments[] = {&out};
    auto result = gpu.launch(*loaded, 0, shape({3, 1, 1}, {32 * warps, 1, 1}), arguments);
    ASSERT_TRUE(result.ok());
    ASSERT_FALSE(result->fault) << result->fault->message;
    EXPECT_EQ(*out, 5 * 3 * 32 * warps);
  }
}

// As in CuTe's tutorial 02_mma_tma_sm100: one warp issues an operation whose end completes the mbarrier's phase, all
// warps wait for it, and no other barrier keeps that warp from issuing the next one. A GPU takes time for each.
std::string one_warp_issues(const char* operation) {
  return fmt::format(R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry run(.param .u64 out)
{{
  .reg .pred %q, %i; .reg .b32 %r<8>; .reg .b64 %d, %s, %g;
  .shared .align 16 .b8 memory[64]; .shared .align 8 .b64 first; .shared .align 8 .b64 second;
  ld.param.u64 %d, [out]; mov.u32 %r0, %tid.x; mov.u32 %r3, 0; mov.u32 %r1, %ntid.x;
  shr.u32 %r6, %r1, 1; setp.eq.u32 %i, %r0, %r6;
  add.u64 %g, %d, 16;
  @%i mbarrier.init.shared.b64 [first], 1;
  @%i mbarrier.init.shared.b64 [second], 1;
  bar.sync 0;
again:
  and.b32 %r4, %r3, 1;
  @%i mbarrier.arrive.expect_tx.shared.b64 %s, [first], 16;
  @%i {0}
wait_first:
  mbarrier.try_wait.parity.shared.b64 %q, [first], %r4; @!%q bra wait_first;
  @%i mbarrier.arrive.expect_tx.shared.b64 %s, [second], 16;
  @%i mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [second], 16;
wait_second:
  mbarrier.test_wait.parity.shared.b64 %q, [second], %r4; @!%q bra wait_second;
  add.u32 %r3, %r3, 1; setp.lt.u32 %q, %r3, 7; @%q bra again;
  red.global.add.u32 [%d], %r3;
  ret;
}}
)",
                     operation);
}

void check_all_see_each_phase(const char* operation, const char* order) {
  for (unsigned warps = 1; warps <= 8; ++warps) {
    SCOPED_TRACE(fmt::format("{} warps, {}, {}", warps, order, operation));
    Options options;
    options.workers = 1;
    options.timeout_seconds = 20;
    options.schedule = *read_schedule(order);
    Device gpu(0, **find_gpu_model("h200"), options);
    auto module = ptx::parse(one_warp_issues(operation), "issue.ptx");
    ASSERT_TRUE(module.ok()) << module.error().message;
    auto loaded = gpu.load(*module);
    ASSERT_TRUE(loaded.ok());
    auto* out = reinterpret_cast<std::uint32_t*>(*gpu.allocate(64));
    *out = 0;
    void* arguments[] = {&out};
    auto result = gpu.launch(*loaded, 0, shape({3, 1, 1}, {32 * warps, 1, 1}), arguments);
    ASSERT_TRUE(result.ok());
    ASSERT_FALSE(result->fault) << result->fault->message;
    EXPECT_EQ(*out, 7 * 3 * 32 * warps);
  }
}

TEST(MBarrierWait, SeesEachPhaseThatACopyCompletes) {
  for (const char* order : {"forward", "reverse", "interleaved", "random:1", "random:2"})
    for (const char* operation :
         {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [memory], [%g], 16, [first];",
          "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [first], 16;"})
      check_all_see_each_phase(operation, order);
}

}  // namespace
}  // namespace warpgrind::device
