// Linking of PTX.
#include <cstdio>
#include <cstring>
#include <fstream>

#include "code.h"

namespace warpgrind::driver::test {

namespace {

constexpr const char* kCaller = R"(.version 8.0
.target sm_50
.address_size 64
.extern .func (.param .b32 out) seven();
.visible .entry write(.param .u64 p)
{
  .reg .u64 %rd<3>;
  .reg .u32 %r<2>;
  .param .b32 got;
  ld.param.u64 %rd1, [p];
  cvta.to.global.u64 %rd2, %rd1;
  call (got), seven, ();
  ld.param.b32 %r1, [got];
  st.global.u32 [%rd2], %r1;
  ret;
}
)";
constexpr const char* kCallee = R"(.version 8.0
.target sm_50
.address_size 64
.visible .func (.param .b32 out) seven()
{
  st.param.b32 [out], 7;
  ret;
}
)";

// Numba's grid group. Each block adds its number and 1 to a sum. After the grid's barrier, thread 0 stores the sum in
// p[1 + block] and the error in p[9 + block], and thread 1 stores its rank in p[17 + block].
constexpr const char* kGrid = R"(.version 8.0
.target sm_50
.address_size 64
.extern .func (.param .b64 out) cudaCGGetIntrinsicHandle(.param .b32 scope);
.extern .func (.param .b32 out) cudaCGSynchronize(.param .b64 handle, .param .b32 flags);
.extern .func (.param .b32 out) cudaCGGetRank(.param .b64 thread, .param .b64 grid, .param .b64 handle);
.visible .entry whole_grid(.param .u64 p)
{
  .reg .u64 %rd<7>;
  .reg .u32 %r<8>;
  .reg .pred %q;
  .param .b32 scope;
  .param .b64 handle;
  .param .b64 a;
  .param .b32 flags;
  .param .b32 error;
  .param .b64 b;
  .param .b64 c;
  .param .b32 unranked;
  ld.param.u64 %rd1, [p];
  st.param.b32 [scope], 1;
  call (handle), cudaCGGetIntrinsicHandle, (scope);
  ld.param.b64 %rd2, [handle];
  mov.u32 %r1, %ctaid.x;
  add.u32 %r2, %r1, 1;
  mov.u32 %r3, %tid.x;
  setp.ne.u32 %q, %r3, 0;
  @!%q red.global.add.u32 [%rd1], %r2;
  st.param.b64 [a], %rd2;
  st.param.b32 [flags], 0;
  call (error), cudaCGSynchronize, (a, flags);
  ld.param.b32 %r4, [error];
  mul.wide.u32 %rd3, %r2, 4;
  add.u64 %rd4, %rd1, %rd3;
  @%q bra RANK;
  ld.volatile.global.u32 %r5, [%rd1];
  st.global.u32 [%rd4], %r5;
  st.global.u32 [%rd4+32], %r4;
  ret;
RANK:
  add.u64 %rd5, %rd4, 64;
  setp.ne.u32 %q, %r3, 1;
  @%q bra END;
  st.param.b64 [a], %rd5;
  st.param.b64 [b], 0;
  st.param.b64 [c], %rd2;
  call (unranked), cudaCGGetRank, (a, b, c);
END:
  ret;
}
)";

CUresult add(CUlinkState state, const char* ptx) {
  return cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char*>(ptx), std::strlen(ptx) + 1, "part", 0, nullptr,
                       nullptr);
}

}  // namespace

using Linking = WithContext;

TEST_F(Linking, TwoPieces) {
  const std::string path = testing::TempDir() + "driver_linking.ptx";
  std::ofstream(path) << kCallee;
  CUlinkState state = nullptr;
  OK(cuLinkCreate(0, nullptr, nullptr, &state));
  OK(add(state, kCaller));
  OK(cuLinkAddFile(state, CU_JIT_INPUT_PTX, path.c_str(), 0, nullptr, nullptr));
  void* image = nullptr;
  std::size_t size = 0;
  OK(cuLinkComplete(state, &image, &size));
  EXPECT_GT(size, 0u);
  CUmodule module = nullptr;
  OK(cuModuleLoadData(&module, image));
  OK(cuLinkDestroy(state));
  CUfunction write = nullptr;
  OK(cuModuleGetFunction(&write, module, "write"));
  const Words words(1);
  CUdeviceptr p = words.data();
  void* parameters[] = {&p};
  OK(cuLaunchKernel(write, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
  EXPECT_EQ(words.read()[0], 7u);
  OK(cuModuleUnload(module));
  std::remove(path.c_str());
}

// A library without device code is valid, like libcudadevrt.a for programs that always link it.
TEST_F(Linking, AnEmptyArchive) {
  const std::string path = testing::TempDir() + "driver_linking.a";
  std::ofstream(path) << "!<arch>\n";
  CUlinkState state = nullptr;
  OK(cuLinkCreate(0, nullptr, nullptr, &state));
  OK(add(state, kCallee));
  OK(cuLinkAddFile(state, CU_JIT_INPUT_LIBRARY, path.c_str(), 0, nullptr, nullptr));
  void* image = nullptr;
  OK(cuLinkComplete(state, &image, nullptr));
  OK(cuLinkDestroy(state));
  std::remove(path.c_str());
}

// libcudadevrt.a is machine code. Its functions of cooperative groups are available without it.
TEST_F(Linking, TheDeviceRuntime) {
  CUlinkState state = nullptr;
  OK(cuLinkCreate(0, nullptr, nullptr, &state));
  OK(add(state, kGrid));
  OK(add(state, kCallee));
  void* image = nullptr;
  OK(cuLinkComplete(state, &image, nullptr));
  for (const void* code : {static_cast<const void*>(image), static_cast<const void*>(kGrid)}) {
    CUmodule module = nullptr;
    OK(cuModuleLoadData(&module, code));
    CUfunction kernel = nullptr;
    OK(cuModuleGetFunction(&kernel, module, "whole_grid"));
    const Words words(25);
    CUdeviceptr p = words.data();
    void* parameters[] = {&p};
    OK(cuLaunchCooperativeKernel(kernel, 8, 1, 1, 64, 1, 1, 0, nullptr, parameters));
    std::vector<unsigned> got = words.read();
    for (unsigned block = 0; block < 8; block++) {
      EXPECT_EQ(got[1 + block], 36u) << block;
      EXPECT_EQ(got[9 + block], 0u) << block;
      EXPECT_EQ(got[17 + block], 64 * block + 1) << block;
    }
    // Without co-resident blocks there is no group, and no thread waits.
    const Words others(25);
    p = others.data();
    OK(cuLaunchKernel(kernel, 8, 1, 1, 64, 1, 1, 0, nullptr, parameters, nullptr));
    got = others.read();
    EXPECT_EQ(got[0], 36u);
    for (unsigned block = 0; block < 8; block++) EXPECT_EQ(got[9 + block], CUDA_ERROR_INVALID_VALUE) << block;
    OK(cuModuleUnload(module));
  }
  OK(cuLinkDestroy(state));
}

TEST_F(Linking, Refused) {
  char log[256] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUlinkState state = nullptr;
  OK(cuLinkCreate(2, options, values, &state));
  void* image = nullptr;
  FAILS(CUDA_ERROR_INVALID_VALUE, cuLinkComplete(state, &image, nullptr));  // nothing was added
  OK(add(state, kCaller));
  EXPECT_NE(cuLinkComplete(state, &image, nullptr), CUDA_SUCCESS);
  EXPECT_NE(std::string(log).find("seven"), std::string::npos) << log;
  FAILS(CUDA_ERROR_INVALID_IMAGE, add(state, "nothing"));
  FAILS(CUDA_ERROR_FILE_NOT_FOUND, cuLinkAddFile(state, CU_JIT_INPUT_PTX, "/nowhere", 0, nullptr, nullptr));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuLinkAddData(state, CU_JIT_INPUT_PTX, nullptr, 0, nullptr, 0, nullptr, nullptr));
  OK(cuLinkDestroy(state));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuLinkDestroy(state));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuLinkComplete(state, &image, nullptr));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuLinkCreate(0, nullptr, nullptr, nullptr));
}

// The symbols before CUDA 6.5.
#undef cuLinkCreate
#undef cuLinkAddData
#undef cuLinkAddFile
TEST_F(Linking, AsBeforeCuda65) {
  const std::string path = testing::TempDir() + "driver_linking_first.ptx";
  std::ofstream(path) << kCallee;
  CUlinkState state = nullptr;
  OK(cuLinkCreate(0, nullptr, nullptr, &state));
  OK(cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char*>(kCaller), std::strlen(kCaller) + 1, "part", 0, nullptr,
                   nullptr));
  OK(cuLinkAddFile(state, CU_JIT_INPUT_PTX, path.c_str(), 0, nullptr, nullptr));
  void* image = nullptr;
  OK(cuLinkComplete(state, &image, nullptr));
  CUmodule module = nullptr;
  OK(cuModuleLoadFatBinary(&module, image));
  OK(cuModuleUnload(module));
  OK(cuLinkDestroy(state));
  std::remove(path.c_str());
  FAILS(CUDA_ERROR_INVALID_VALUE, cuLinkCreate(0, nullptr, nullptr, nullptr));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuLinkAddData(state, CU_JIT_INPUT_PTX, &image, 8, nullptr, 0, nullptr, nullptr));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuLinkAddFile(state, CU_JIT_INPUT_PTX, path.c_str(), 0, nullptr, nullptr));
}

}  // namespace warpgrind::driver::test
