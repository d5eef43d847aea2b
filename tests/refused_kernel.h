// PTX of a kernel, `refused`, that the virtual GPU refuses: handles of textures carry no type.
#pragma once

namespace warpgrind {

inline constexpr const char* kRefusedKernel = R"(.version 8.1
.target sm_90
.address_size 64
.visible .entry refused(.param .u64 p)
{
  .reg .u64 %rd<2>;
  .reg .pred %p<2>;
  ld.param.u64 %rd1, [p];
  istypep.texref %p1, %rd1;
  ret;
}
)";

}  // namespace warpgrind
