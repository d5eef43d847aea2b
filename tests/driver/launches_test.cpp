// Launches of kernels, with arguments passed in every possible way.
#include <cstring>

#include "../refused_kernel.h"
#include "code.h"

namespace warpgrind::driver::test {

namespace {

// The arguments of sum(p, a, b, c), laid out as in parameter memory.
struct Packed {
  CUdeviceptr p;
  unsigned a;
  unsigned char b;
  unsigned long long c;
};

}  // namespace

using Launches = WithModule;

TEST_F(Launches, ByPointers) {
  const Words words(64);
  CUdeviceptr p = words.data();
  void* parameters[] = {&p};
  OK(cuLaunchKernel(function("add_step"), 2, 1, 1, 32, 1, 1, 0, CU_STREAM_PER_THREAD, parameters, nullptr));
  EXPECT_EQ(words.read(), std::vector<unsigned>(64, 3));
  OK(cuLaunchCooperativeKernel(function("add_step"), 2, 1, 1, 32, 1, 1, 0, nullptr, parameters));
  EXPECT_EQ(words.read(), std::vector<unsigned>(64, 6));
}

TEST_F(Launches, ByABuffer) {
  const Words words(1);
  Packed packed{words.data(), 1, 20, 300};
  std::size_t size = sizeof packed;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
  OK(cuLaunchKernel(function("sum"), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
  EXPECT_EQ(words.read()[0], 321u);
  size = 16;  // c is missing
  FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(function("sum"), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
  void* parameters[] = {&packed.p, &packed.a, &packed.b, &packed.c};
  FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(function("sum"), 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, extra));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(function("sum"), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
}

TEST_F(Launches, WithAttributes) {
  const Words words(64);
  CUdeviceptr p = words.data();
  void* parameters[] = {&p};
  CUlaunchAttribute cluster{};
  cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  cluster.value.clusterDim = {2, 1, 1};
  CUlaunchConfig config{};
  config.gridDimX = 2;
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.blockDimX = 32;
  config.attrs = &cluster;
  config.numAttrs = 1;
  OK(cuLaunchKernelEx(&config, function("add_step"), parameters, nullptr));
  EXPECT_EQ(words.read(), std::vector<unsigned>(64, 3));
  config.gridDimX = 1;
  FAILS(CUDA_ERROR_INVALID_CLUSTER_SIZE, cuLaunchKernelEx(&config, function("add_step"), parameters, nullptr));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernelEx(nullptr, function("add_step"), parameters, nullptr));
}

TEST_F(Launches, Refused) {
  CUfunction bounded = function("bounded");
  FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(bounded, 0, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(bounded, 1, 1, 1, 2048, 1, 1, 0, nullptr, nullptr, nullptr));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(bounded, 1, 1, 1, 65, 1, 1, 0, nullptr, nullptr, nullptr));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(bounded, 1, 1, 1, 1, 1, 1, 1 << 20, nullptr, nullptr, nullptr));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  FAILS(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
        cuLaunchCooperativeKernel(bounded, 1 << 20, 1, 1, 64, 1, 1, 0, nullptr, nullptr));
  CUstream no_stream = reinterpret_cast<CUstream>(&no_stream);
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernel(bounded, 1, 1, 1, 1, 1, 1, 0, no_stream, nullptr, nullptr));
}

// A kernel that only the virtual GPU refuses. This API has no last error, so the first wait that reports it is the
// last.
TEST_F(Launches, TheWaitAfterARefusedOneFails) {
  const Words words(1);
  CUdeviceptr p = words.data();
  void* parameters[] = {&p};
  CUmodule module = nullptr;
  CUfunction refused = nullptr;
  OK(cuModuleLoadData(&module, kRefusedKernel));
  OK(cuModuleGetFunction(&refused, module, "refused"));
  FAILS(CUDA_ERROR_NOT_SUPPORTED, cuLaunchKernel(refused, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
  FAILS(CUDA_ERROR_NOT_SUPPORTED, cuCtxSynchronize());
  OK(cuCtxSynchronize());
  FAILS(CUDA_ERROR_NOT_SUPPORTED, cuLaunchKernel(refused, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
  FAILS(CUDA_ERROR_NOT_SUPPORTED, cuStreamSynchronize(nullptr));
  OK(cuModuleUnload(module));
}

TEST_F(Launches, AsBeforeCuda4) {
  const Words words(1);
  CUfunction sum = function("sum");
  const unsigned char b = 20;
  const unsigned long long c = 300;
  CUdeviceptr p = words.data();
  OK(cuParamSetv(sum, 0, &p, sizeof p));
  OK(cuParamSeti(sum, 8, 1));
  OK(cuParamSetv(sum, 12, const_cast<unsigned char*>(&b), sizeof b));
  OK(cuParamSetv(sum, 16, const_cast<unsigned long long*>(&c), sizeof c));
  OK(cuParamSetSize(sum, 24));
  OK(cuFuncSetBlockShape(sum, 1, 1, 1));
  OK(cuFuncSetSharedSize(sum, 0));
  OK(cuLaunch(sum));
  EXPECT_EQ(words.read()[0], 321u);
  float ten = 10;
  unsigned bits = 0;
  std::memcpy(&bits, &ten, sizeof bits);
  OK(cuParamSetf(sum, 8, ten));
  OK(cuLaunchGrid(sum, 2, 1));
  EXPECT_EQ(words.read()[0], 320u + bits);
  OK(cuLaunchGridAsync(sum, 1, 1, nullptr));
  OK(cuParamSetSize(sum, 8));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunch(sum));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunchGrid(sum, 0, 1));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuLaunchGridAsync(nullptr, 1, 1, nullptr));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuFuncSetBlockShape(sum, 0, 1, 1));
  FAILS(CUDA_ERROR_INVALID_HANDLE, cuFuncSetSharedSize(nullptr, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuParamSetSize(sum, 1 << 20));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuParamSeti(sum, -4, 1));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuParamSetf(sum, 1 << 20, 1));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuParamSetv(sum, 0, nullptr, 8));
}

// After a kernel's fault, every later call returns its error.
TEST(Faults, Stay) {
  OK(cuInit(0));
  CUcontext context = nullptr;
  OK(cuCtxCreate(&context, nullptr, 0, 0));
  CUmodule module = nullptr;
  CUfunction broken = nullptr;
  OK(cuModuleLoadData(&module, kCode));
  OK(cuModuleGetFunction(&broken, module, "broken"));
  OK(cuLaunchKernel(broken, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cuModuleGetFunction(&broken, module, "bounded"), CUDA_ERROR_ILLEGAL_ADDRESS);
}

}  // namespace warpgrind::driver::test
