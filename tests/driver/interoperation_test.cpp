// Both APIs in one program: "A runtime program and the driver API share contexts" (Interactions with the CUDA driver
// API, CUDA Runtime API reference).
#include <cuda_runtime_api.h>

#include <thread>

#include "driver_test.h"

namespace warpgrind::driver {

namespace {

CUcontext current() {
  CUcontext context = nullptr;
  OK(cuCtxGetCurrent(&context));
  return context;
}
CUcontext primary(CUdevice device) {
  CUcontext context = nullptr;
  OK(cuDevicePrimaryCtxRetain(&context, device));
  OK(cuDevicePrimaryCtxRelease(device));
  return context;
}
int device_of_runtime() {
  int device = -1;
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  return device;
}

}  // namespace

TEST(Interoperation, TheRuntimeInitializesTheDriver) {
  int count = 0;
  FAILS(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&count));
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  OK(cuDeviceGetCount(&count));
  EXPECT_EQ(count, test::kDevices);
}

// As an H200 with CUDA 13.0 has it: the runtime also returns attributes that only the driver API has a name for.
TEST(Interoperation, BothApisReturnTheSameAttributes) {
  OK(cuInit(0));
  for (int number = 1; number <= CU_DEVICE_ATTRIBUTE_MAX; number++) {
    int of_driver = -2, of_runtime = -2;
    const CUresult driver = cuDeviceGetAttribute(&of_driver, static_cast<CUdevice_attribute>(number), 1);
    const cudaError_t runtime = cudaDeviceGetAttribute(&of_runtime, static_cast<cudaDeviceAttr>(number), 1);
    EXPECT_EQ(static_cast<int>(driver), static_cast<int>(runtime)) << number;
    EXPECT_EQ(of_driver, of_runtime) << number;
  }
  cudaGetLastError();  // that of the numbers that name no attribute
}

TEST(Interoperation, TheRuntimeMakesThePrimaryContextCurrent) {
  OK(cuInit(0));
  EXPECT_EQ(current(), nullptr);
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  EXPECT_EQ(current(), primary(0));
  std::thread([] { EXPECT_EQ(current(), nullptr); }).join();
  EXPECT_EQ(cudaSetDevice(1), cudaSuccess);
  EXPECT_EQ(current(), primary(1));
}

TEST(Interoperation, CudaSetDeviceReplacesTheCurrentContext) {
  OK(cuInit(0));
  CUcontext own = nullptr;
  OK(cuCtxCreate(&own, nullptr, 0, 0));
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);  // works on the current context
  EXPECT_EQ(current(), own);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(current(), primary(0));
}

TEST(Interoperation, TheRuntimeWorksOnTheDeviceOfTheCurrentContext) {
  OK(cuInit(0));
  CUcontext other = nullptr, popped = nullptr;
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
  OK(cuCtxCreate(&other, nullptr, 0, 1));
  EXPECT_EQ(device_of_runtime(), 1);
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, 64), cudaSuccess);
  cudaPointerAttributes attributes{};
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, memory), cudaSuccess);
  EXPECT_EQ(attributes.device, 1);
  OK(cuCtxPopCurrent(&popped));
  EXPECT_EQ(device_of_runtime(), 0);
  EXPECT_EQ(current(), primary(0));
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

// Programs of CUTLASS link no libcuda.so.1: they look the functions up by the runtime.
TEST(Interoperation, TheRuntimeFindsTensorMaps) {
  for (const char* name : {"cuTensorMapEncodeTiled", "cuTensorMapEncodeIm2col", "cuTensorMapEncodeIm2colWide",
                           "cuTensorMapReplaceAddress"}) {
    void *function = nullptr, *of_driver = nullptr;
    cudaDriverEntryPointQueryResult status{};
    EXPECT_EQ(cudaGetDriverEntryPointByVersion(name, &function, 12080, cudaEnableDefault, &status), cudaSuccess);
    EXPECT_EQ(status, cudaDriverEntryPointSuccess) << name;
    OK(cuGetProcAddress(name, &of_driver, 13000, 0, nullptr));
    EXPECT_NE(function, nullptr) << name;
    EXPECT_EQ(function, of_driver) << name;
  }
}

TEST(Interoperation, ErrorsOfTheDriverAreNotTheRuntimes) {
  OK(cuInit(0));
  CUdevice device = -1;
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  FAILS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, 99));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuCtxSetCacheConfig(static_cast<CUfunc_cache>(9)));
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

}  // namespace warpgrind::driver
