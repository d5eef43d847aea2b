// PTX of a kernel, `multicast`, that a GPU of compute capability 9.0 runs and the virtual GPU refuses.
#pragma once

namespace warpgrind {

inline constexpr const char* kRefusedKernel = R"(.version 8.1
.target sm_90
.address_size 64
.visible .entry multicast(.param .u64 p)
{
  .reg .u64 %rd<2>;
  .reg .u32 %r<2>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, 1;
  multimem.red.relaxed.sys.global.add.u32 [%rd1], %r1;
  ret;
}
)";

}  // namespace warpgrind
