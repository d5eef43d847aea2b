// Lanes that wait for an mbarrier at which another lane of their warp has yet to arrive.
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

}  // namespace
}  // namespace warpgrind::device
