// PTX source of the device runtime's functions.
#include "ptx/device_runtime.h"

#include <string_view>

#include "ptx/parser.h"

namespace warpgrind::ptx {

namespace {

// Cooperative groups, grid scope. The handle of the grid is the address of {unsigned size, barrier}. A cooperative
// launch puts it into %envreg1 and %envreg2; any other launch puts zero there
// (cooperative_groups/details/driver_abi.h). The barrier works as in cooperative_groups/details/sync.h: each block adds
// 1, but the first one adds a value that makes the highest bit flip when all have arrived. The other lanes of its warp
// spin together with thread 0, since lanes of a called function cannot wait for each other at different barriers.
// Result 1 is cudaErrorInvalidValue: no such group.
constexpr std::string_view kText = R"(
.version 7.0
.target sm_70
.address_size 64

.visible .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope)
{
  .reg .pred %p;
  .reg .b32 %r<4>;
  .reg .b64 %h;
  ld.param.u32 %r1, [scope];
  mov.u32 %r2, %envreg2;
  mov.u32 %r3, %envreg1;
  mov.b64 %h, {%r2, %r3};
  setp.eq.u32 %p, %r1, 1;
  selp.b64 %h, %h, 0, %p;
  st.param.b64 [handle], %h;
  ret;
}

.visible .func (.param .b32 error) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)
{
  .reg .pred %p, %master, %first, %waiting;
  .reg .b32 %r<16>;
  .reg .b64 %h;
  ld.param.u64 %h, [handle];
  setp.eq.u64 %p, %h, 0;
  @%p bra NONE;
  barrier.sync 0;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %tid.y;
  mov.u32 %r3, %tid.z;
  or.b32 %r1, %r1, %r2;
  or.b32 %r1, %r1, %r3;
  setp.eq.u32 %master, %r1, 0;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ctaid.y;
  mov.u32 %r3, %ctaid.z;
  or.b32 %r1, %r1, %r2;
  or.b32 %r1, %r1, %r3;
  setp.eq.u32 %first, %r1, 0;
  mov.u32 %r4, %nctaid.x;
  mov.u32 %r5, %nctaid.y;
  mov.u32 %r6, %nctaid.z;
  mul.lo.u32 %r4, %r4, %r5;
  mul.lo.u32 %r4, %r4, %r6;
  sub.u32 %r4, 0x80000001, %r4;
  selp.b32 %r5, %r4, 1, %first;
  mov.u32 %r7, 0;
  mov.u32 %r8, 0x80000000;
  activemask.b32 %r10;
  @%master atom.add.release.gpu.u32 %r7, [%h+4], %r5;
WAIT:
  @%master ld.acquire.gpu.u32 %r8, [%h+4];
  xor.b32 %r9, %r7, %r8;
  setp.ge.s32 %waiting, %r9, 0;
  vote.sync.any.pred %waiting, %waiting, %r10;
  @%waiting bra WAIT;
  barrier.sync 0;
  st.param.b32 [error], 0;
  ret;
NONE:
  st.param.b32 [error], 1;
  ret;
}

.visible .func (.param .b32 error) cudaCGSynchronizeGrid(.param .b64 handle, .param .b32 flags)
{
  .reg .b32 %r<3>;
  .reg .b64 %h;
  ld.param.u64 %h, [handle];
  ld.param.u32 %r1, [flags];
  {
    .param .b64 a;
    .param .b32 b;
    .param .b32 result;
    st.param.b64 [a], %h;
    st.param.b32 [b], %r1;
    call.uni (result), cudaCGSynchronize, (a, b);
    ld.param.b32 %r2, [result];
  }
  st.param.b32 [error], %r2;
  ret;
}

.visible .func (.param .b32 error) cudaCGGetSize(.param .b64 threads, .param .b64 grids, .param .b64 handle)
{
  .reg .pred %p;
  .reg .b32 %r<7>;
  .reg .b64 %a<4>;
  ld.param.u64 %a1, [threads];
  ld.param.u64 %a2, [grids];
  ld.param.u64 %a3, [handle];
  setp.eq.u64 %p, %a3, 0;
  @%p bra NONE;
  mov.u32 %r1, %nctaid.x;
  mov.u32 %r2, %nctaid.y;
  mul.lo.u32 %r1, %r1, %r2;
  mov.u32 %r2, %nctaid.z;
  mul.lo.u32 %r1, %r1, %r2;
  mov.u32 %r2, %ntid.x;
  mul.lo.u32 %r1, %r1, %r2;
  mov.u32 %r2, %ntid.y;
  mul.lo.u32 %r1, %r1, %r2;
  mov.u32 %r2, %ntid.z;
  mul.lo.u32 %r1, %r1, %r2;
  setp.eq.u64 %p, %a1, 0;
  @!%p st.u32 [%a1], %r1;
  setp.eq.u64 %p, %a2, 0;
  @!%p st.u32 [%a2], 1;
  st.param.b32 [error], 0;
  ret;
NONE:
  st.param.b32 [error], 1;
  ret;
}

.visible .func (.param .b32 error) cudaCGGetRank(.param .b64 thread, .param .b64 grid, .param .b64 handle)
{
  .reg .pred %p;
  .reg .b32 %r<7>;
  .reg .b64 %a<4>;
  ld.param.u64 %a1, [thread];
  ld.param.u64 %a2, [grid];
  ld.param.u64 %a3, [handle];
  setp.eq.u64 %p, %a3, 0;
  @%p bra NONE;
  mov.u32 %r1, %ctaid.z;
  mov.u32 %r2, %nctaid.y;
  mov.u32 %r3, %ctaid.y;
  mad.lo.u32 %r1, %r1, %r2, %r3;
  mov.u32 %r2, %nctaid.x;
  mov.u32 %r3, %ctaid.x;
  mad.lo.u32 %r1, %r1, %r2, %r3;
  mov.u32 %r2, %ntid.z;
  mov.u32 %r3, %tid.z;
  mad.lo.u32 %r1, %r1, %r2, %r3;
  mov.u32 %r2, %ntid.y;
  mov.u32 %r3, %tid.y;
  mad.lo.u32 %r1, %r1, %r2, %r3;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r1, %r1, %r2, %r3;
  setp.eq.u64 %p, %a1, 0;
  @!%p st.u32 [%a1], %r1;
  setp.eq.u64 %p, %a2, 0;
  @!%p st.u32 [%a2], 0;
  st.param.b32 [error], 0;
  ret;
NONE:
  st.param.b32 [error], 1;
  ret;
}
)";

}  // namespace

Result<std::shared_ptr<Module>> device_runtime_for(const std::vector<std::shared_ptr<Module>>& modules) {
  constexpr std::string_view kPrefix = "cudaCG";
  bool declared = false;
  for (const auto& module : modules) {
    for (const Function& f : module->functions) {
      if (!f.name.starts_with(kPrefix)) continue;
      if (f.has_body) return std::shared_ptr<Module>();
      declared = true;
    }
  }
  if (!declared) return std::shared_ptr<Module>();
  return parse(std::string(kText), "the device runtime");
}

}  // namespace warpgrind::ptx
