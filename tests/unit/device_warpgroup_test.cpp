// Warps of a warpgroup, which multiply together.
#include <algorithm>

#include "device_fixture.h"

namespace warpgrind::device {
namespace {

// All elements of A (64 x 16) and B (16 x 8) are 1. The first warp of each warpgroup clears the warpgroup's A as soon
// as its own wait is over; matmul_2 of fast.cu issues the next copy to A there. An H200 delivers 16 in all lanes
// for such a program, because the warps multiply together. `steps`: how often, with a barrier between them.
constexpr const char* kGroupsText = R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry run(.param .u64 out, .param .u32 steps)
{
  .reg .pred %p, %first; .reg .b32 %r<12>; .reg .b64 %d, %a, %b, %w; .reg .f32 %f<5>;
  .shared .align 128 .b8 tiles[8192];
  ld.param.u64 %d, [out]; ld.param.u32 %r9, [steps]; mov.u32 %r0, %tid.x;
  and.b32 %r1, %r0, 127; shr.u32 %r2, %r0, 7;
  setp.lt.u32 %first, %r1, 32;
  mov.u32 %r3, tiles; mad.lo.u32 %r3, %r2, 4096, %r3;
  mov.f32 %f4, 0f00000000;
again:
  mov.u32 %r4, 0x3c003c00;
  mad.lo.u32 %r5, %r1, 4, %r3; mov.u32 %r6, 0;
fill:
  st.shared.b32 [%r5], %r4; add.u32 %r5, %r5, 512; add.u32 %r6, %r6, 1;
  setp.lt.u32 %p, %r6, 6; @%p bra fill;
  fence.proxy.async;
  bar.sync 0;
  shr.u32 %r7, %r3, 4; cvt.u64.u32 %a, %r7; add.u64 %b, %a, 128;
  or.b64 %a, %a, 0x800400000; or.b64 %b, %b, 0x1000080000;
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %a, %b, 0, 1, 1, 0, 0;
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
  @!%first bra store;
  mov.u32 %r4, 0; mad.lo.u32 %r5, %r1, 4, %r3; mov.u32 %r6, 0;
clear:
  st.shared.b32 [%r5], %r4; add.u32 %r5, %r5, 128; add.u32 %r6, %r6, 1;
  setp.lt.u32 %p, %r6, 16; @%p bra clear;
store:
  add.f32 %f4, %f4, %f0; add.f32 %f4, %f4, %f1; add.f32 %f4, %f4, %f2; add.f32 %f4, %f4, %f3;
  bar.sync 0;
  sub.u32 %r9, %r9, 1; setp.ne.u32 %p, %r9, 0; @%p bra again;
  mul.wide.u32 %w, %r0, 4; add.u64 %d, %d, %w; st.global.f32 [%d], %f4;
  ret;
}
.visible .entry alone(.param .u64 out)
{
  .reg .pred %first; .reg .b32 %r<2>; .reg .b64 %d, %a, %w; .reg .f32 %f<4>;
  .shared .align 128 .b8 tiles[4096];
  ld.param.u64 %d, [out]; mov.u32 %r0, %tid.x; setp.ge.u32 %first, %r0, 32; @%first bra done;
  mov.u64 %a, 0x800400000;
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %a, %a, 0, 1, 1, 0, 0;
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
done:
  mul.wide.u32 %w, %r0, 4; add.u64 %d, %d, %w; mov.u32 %r1, 1; st.global.u32 [%d], %r1;
  ret;
}
)";

constexpr unsigned kThreadsOfGroups = 256, kBlocksOfGroups = 3;

struct Warpgroups {
  Warpgroups() {
    Options options;
    options.workers = 1;
    options.timeout_seconds = 20;
    gpu = std::make_unique<Device>(0, **find_gpu_model("h200"), options);
    auto module = ptx::parse(kGroupsText, "warpgroup.ptx");
    EXPECT_TRUE(module.ok());
    auto loaded = gpu->load(*module);
    EXPECT_TRUE(loaded.ok());
    text = *loaded;
  }
  template <class... A>
  void run(std::uint32_t function, A... values) {
    void* arguments[] = {&values...};
    auto result = gpu->launch(text, function, shape({kBlocksOfGroups, 1, 1}, {kThreadsOfGroups, 1, 1}), arguments);
    ASSERT_TRUE(result.ok());
    ASSERT_FALSE(result->fault) << result->fault->message;
  }
  std::unique_ptr<Device> gpu;
  LoadedModule* text = nullptr;
};

TEST(Warpgroups, WaitsOfTheirWarpsEndTogether) {
  Warpgroups w;
  auto* out = reinterpret_cast<float*>(*w.gpu->allocate(kThreadsOfGroups * sizeof(float)));
  for (const std::uint32_t steps : {1u, 2u, 5u}) {
    SCOPED_TRACE(steps);
    std::fill_n(out, kThreadsOfGroups, 0.0f);
    w.run(0, out, steps);
    for (unsigned t = 0; t < kThreadsOfGroups; ++t) EXPECT_EQ(out[t], 4 * 16.0f * static_cast<float>(steps)) << t;
  }
}

// Wrong, but it must end.
TEST(Warpgroups, OneWarpThatMultipliesAloneGoesOn) {
  Warpgroups w;
  auto* out = reinterpret_cast<std::uint32_t*>(*w.gpu->allocate(kThreadsOfGroups * sizeof(std::uint32_t)));
  std::fill_n(out, kThreadsOfGroups, 0u);
  w.run(1, out);
  EXPECT_EQ(std::count(out, out + kThreadsOfGroups, 1u), kThreadsOfGroups);
}

}  // namespace
}  // namespace warpgrind::device
