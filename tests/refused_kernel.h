// PTX of a kernel, `refused`, that the virtual GPU refuses: it reads a texture with several samples.
#pragma once

namespace warpgrind {

inline constexpr const char* kRefusedKernel = R"(.version 8.1
.target sm_90
.address_size 64
.visible .entry refused(.param .u64 p)
{
  .reg .u64 %rd<2>;
  .reg .f32 %f<5>;
  .reg .s32 %r<5>;
  ld.param.u64 %rd1, [p];
  mov.s32 %r1, 0;
  tex.2dms.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1, %r1, %r1, %r1}];
  ret;
}
)";

}  // namespace warpgrind
