// PTX that the tests of modules, libraries, kernels and launches load, and device memory for its results.
#pragma once

#include <vector>

#include "driver_test.h"

namespace warpgrind::driver::test {

// step = 3; add_step(u32* p): p[thread of the grid] += step; sum(u32* p, u32 a, u8 b, u64 c): p[0] = a + b + c;
// bounded: __launch_bounds__(64)
inline constexpr const char* kCode = R"(.version 8.0
.target sm_50
.address_size 64
.visible .global .align 4 .u32 step = 3;
.visible .global .attribute(.managed) .align 4 .u32 managed = 7;
.visible .const .align 4 .u32 table[4] = {1, 2, 3, 4};
.visible .entry add_step(.param .u64 p)
{
  .reg .u64 %rd<5>;
  .reg .u32 %r<8>;
  ld.param.u64 %rd1, [p];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mad.lo.u32 %r4, %r2, %r3, %r1;
  mul.wide.u32 %rd3, %r4, 4;
  add.u64 %rd4, %rd2, %rd3;
  ld.global.u32 %r5, [%rd4];
  ld.global.u32 %r6, [step];
  add.u32 %r7, %r5, %r6;
  st.global.u32 [%rd4], %r7;
  ret;
}
.visible .entry sum(.param .u64 p, .param .u32 a, .param .u8 b, .param .u64 c)
{
  .reg .u64 %rd<5>;
  .reg .u32 %r<6>;
  .reg .u16 %h<2>;
  ld.param.u64 %rd1, [p];
  cvta.to.global.u64 %rd2, %rd1;
  ld.param.u32 %r1, [a];
  ld.param.u8 %h1, [b];
  ld.param.u64 %rd3, [c];
  cvt.u32.u16 %r2, %h1;
  cvt.u32.u64 %r3, %rd3;
  add.u32 %r4, %r1, %r2;
  add.u32 %r5, %r4, %r3;
  st.global.u32 [%rd2], %r5;
  ret;
}
.visible .entry bounded() .maxntid 64, 1, 1 { ret; }
.visible .entry broken()
{
  .reg .u64 %rd<2>;
  .reg .u32 %r<2>;
  mov.u64 %rd1, 16;
  mov.u32 %r1, 1;
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

// Words of device memory, initially zero.
class Words {
 public:
  explicit Words(unsigned count) : count_(count) {
    OK(cuMemAlloc(&data_, count * 4));
    OK(cuMemsetD32(data_, 0, count));
    OK(cuStreamSynchronize(nullptr));  // non-blocking streams do not wait for the fill
  }
  ~Words() { EXPECT_EQ(cuMemFree(data_), CUDA_SUCCESS); }
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;
  CUdeviceptr data() const { return data_; }
  std::vector<unsigned> read() const {
    std::vector<unsigned> out(count_);
    OK(cuCtxSynchronize());
    OK(cuMemcpyDtoH(out.data(), data_, count_ * 4));
    return out;
  }

 private:
  unsigned count_;
  CUdeviceptr data_ = 0;
};

// A context on device 0 with the code above.
class WithModule : public WithContext {
 protected:
  WithModule() { OK(cuModuleLoadData(&module, kCode)); }
  ~WithModule() override { OK(cuModuleUnload(module)); }
  CUfunction function(const char* name) const {
    CUfunction out = nullptr;
    OK(cuModuleGetFunction(&out, module, name));
    return out;
  }
  // Runs add_step in one block, one thread for each word. Returns the word, which must be the same for all.
  unsigned after_add(CUfunction add_step) const {
    const Words words(32);
    CUdeviceptr p = words.data();
    void* parameters[] = {&p};
    OK(cuLaunchKernel(add_step, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr));
    const auto all = words.read();
    EXPECT_EQ(all, std::vector<unsigned>(32, all[0]));
    return all[0];
  }
  CUmodule module = nullptr;
};

}  // namespace warpgrind::driver::test
