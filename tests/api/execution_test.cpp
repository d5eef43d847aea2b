// Launches, kernels as objects, occupancy, and the functions that compiled programs call.
#include <string>

#include "api_test.h"

namespace warpgrind::runtime {

namespace {

// Launches and returns the error that an H200 returns.
cudaError_t launch(const void* kernel, dim3 grid, dim3 block, std::size_t shared = 0) {
  static test::Words* words = new test::Words(1 << 16);
  unsigned* p = *words;
  unsigned value = 1;
  void* parameters[] = {&p, &value};
  return cudaLaunchKernel(kernel, grid, block, parameters, shared, nullptr);
}

}  // namespace

TEST(Launch, All) {
  test::Words d(64);
  unsigned* p = d;
  unsigned value = 1;
  void* parameters[] = {&p, &value};
  const dim3 one{1, 1, 1}, warp{32, 1, 1};
  OK(cudaLaunchKernel(&test::fill, {2, 1, 1}, warp, parameters, 0, nullptr));
  EXPECT_EQ(d.read(), std::vector<unsigned>(64, 1));
  const auto filled = [&](cudaError_t error) {
    OK(error);
    EXPECT_EQ(d.read()[31], value);
    ++value;
  };
  cudaKernel_t kernel = nullptr;
  OK(cudaGetKernel(&kernel, &test::fill));
  cudaLaunchConfig_t config{};
  config.gridDim = one;
  config.blockDim = warp;
  value = 2;
  filled(cudaLaunchKernel_ptsz(&test::fill, one, warp, parameters, 0, nullptr));
  filled(__cudaLaunchKernel(kernel, one, warp, parameters, 0, nullptr));
  filled(__cudaLaunchKernel_ptsz(kernel, one, warp, parameters, 0, nullptr));
  filled(cudaLaunchKernelExC(&config, &test::fill, parameters));
  filled(cudaLaunchKernelExC_ptsz(&config, &test::fill, parameters));
  filled(cudaLaunchCooperativeKernel(&test::fill, one, warp, parameters, 0, nullptr));
  filled(cudaLaunchCooperativeKernel_ptsz(&test::fill, one, warp, parameters, 0, nullptr));
  FAILS(cudaErrorCooperativeLaunchTooLarge,
        cudaLaunchCooperativeKernel(&test::fill, {1 << 20, 1, 1}, warp, parameters, 0, nullptr));
  FAILS(cudaErrorInvalidDeviceFunction, cudaLaunchKernel(&value, one, warp, parameters, 0, nullptr));
  FAILS(cudaErrorInvalidValue, cudaLaunchKernelExC(nullptr, &test::fill, parameters));
  EXPECT_EQ(d.read()[0], 8u);  // no refused launch has run
}

// Codes of an H200 with CUDA 13.0: every refused configuration is cudaErrorInvalidValue.
TEST(Launch, Refused) {
  FAILS(cudaErrorInvalidValue, launch(&test::fill, {1, 1, 1}, {2000, 1, 1}));
  FAILS(cudaErrorInvalidValue, launch(&test::fill, {0, 1, 1}, {1, 1, 1}));
  FAILS(cudaErrorInvalidValue, launch(&test::fill, {1, 1, 1}, {0, 1, 1}));
  FAILS(cudaErrorInvalidValue, launch(&test::fill, {1, 1, 1}, {1, 1, 65}));
  FAILS(cudaErrorInvalidValue, launch(&test::fill, {1, 65536, 1}, {1, 1, 1}));
  FAILS(cudaErrorInvalidValue, launch(&test::fill, {1, 1, 1}, {1, 1, 1}, 100 << 10));
  FAILS(cudaErrorInvalidValue, launch(&test::bounded, {1, 1, 1}, {256, 1, 1}));
  FAILS(cudaErrorInvalidValue, launch(&test::fill, {1, 1, 1}, {1, 1, 1}, 300 << 10));
  FAILS(cudaErrorInvalidValue, launch(&test::fill, {1, 1, 1}, {1, 1, 1}, static_cast<std::size_t>(-4)));
  OK(launch(&test::bounded, {1, 1, 1}, {128, 1, 1}));
  FAILS(cudaErrorInvalidValue,
        cudaFuncSetAttribute(&test::fill, cudaFuncAttributeMaxDynamicSharedMemorySize, 300 << 10));
  OK(cudaFuncSetAttribute(&test::fill, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 << 10));
  OK(launch(&test::fill, {1, 1, 1}, {1, 1, 1}, 100 << 10));
  OK(cudaDeviceSynchronize());
}

TEST(Launch, CallConfiguration) {
  dim3 grid{}, block{};
  std::size_t shared = 0;
  cudaStream_t stream = nullptr;
  EXPECT_EQ(__cudaPushCallConfiguration({3, 1, 1}, {5, 1, 1}, 7, nullptr), 0u);
  OK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
  EXPECT_EQ(grid.x, 3u);
  EXPECT_EQ(block.x, 5u);
  EXPECT_EQ(shared, 7u);
  FAILS(cudaErrorMissingConfiguration, __cudaPopCallConfiguration(&grid, &block, &shared, &stream));
}

// The arguments of a launch may launch kernels, and so on. A launch whose configuration is refused does not happen.
TEST(Launch, ConfigurationsNest) {
  constexpr unsigned kDepth = 100;
  dim3 grid{}, block{};
  std::size_t shared = 0;
  cudaStream_t stream = nullptr;
  for (unsigned i = 1; i <= kDepth; ++i) ASSERT_EQ(__cudaPushCallConfiguration({i, 1, 1}, {2, 1, 1}, 0, nullptr), 0u);
  for (unsigned i = kDepth; i > 0; --i) {
    OK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
    EXPECT_EQ(grid.x, i);
  }
  FAILS(cudaErrorMissingConfiguration, __cudaPopCallConfiguration(&grid, &block, &shared, &stream));
}

TEST(Functions, Attributes) {
  cudaFuncAttributes a{};
  OK(cudaFuncGetAttributes(&a, &test::bounded));
  EXPECT_EQ(a.maxThreadsPerBlock, 128);
  EXPECT_EQ(a.constSizeBytes, 0u);
  OK(cudaFuncGetAttributes(&a, &test::from_bank));
  EXPECT_EQ(a.constSizeBytes, 1024u);
  FAILS(cudaErrorInvalidDeviceFunction, cudaFuncGetAttributes(&a, nullptr));
  FAILS(cudaErrorInvalidValue, cudaFuncGetAttributes(nullptr, &test::bounded));
  OK(cudaFuncSetAttribute(&test::bounded, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
  OK(cudaFuncGetAttributes(&a, &test::bounded));
  EXPECT_EQ(a.preferredShmemCarveout, 50);
  FAILS(cudaErrorInvalidValue,
        cudaFuncSetAttribute(&test::bounded, cudaFuncAttributePreferredSharedMemoryCarveout, 101));
  cudaKernel_t kernel = nullptr;
  cudaFunction_t function = nullptr;
  OK(cudaGetKernel(&kernel, &test::bounded));
  OK(cudaGetFuncBySymbol(&function, &test::bounded));
  OK(__cudaGetKernel(&kernel, &test::bounded));
  FAILS(cudaErrorInvalidDeviceFunction, cudaGetKernel(&kernel, &a));
  FAILS(cudaErrorInvalidDeviceFunction, cudaGetFuncBySymbol(&function, &a));
  OK(cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, -1, 0));
  FAILS(cudaErrorInvalidDevice,
        cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, -1, 9));
  OK(cudaFuncSetCacheConfig(&test::bounded, cudaFuncCachePreferShared));
  FAILS(cudaErrorInvalidValue, cudaFuncSetCacheConfig(&test::bounded, static_cast<cudaFuncCache>(9)));
  OK(cudaFuncSetSharedMemConfig(&test::bounded, cudaSharedMemBankSizeFourByte));
  FAILS(cudaErrorInvalidDeviceFunction, cudaFuncSetSharedMemConfig(&a, cudaSharedMemBankSizeFourByte));
  const char* name = nullptr;
  OK(cudaFuncGetName(&name, &test::bounded));
  EXPECT_STREQ(name, "bounded");
  FAILS(cudaErrorInvalidDeviceFunction, cudaFuncGetName(&name, &a));
  std::size_t offset = 0, size = 0;
  OK(cudaFuncGetParamInfo(&test::fill, 1, &offset, &size));
  EXPECT_EQ(offset, 8u);
  EXPECT_EQ(size, 4u);
  FAILS(cudaErrorInvalidValue, cudaFuncGetParamInfo(&test::fill, 2, &offset, &size));
}

TEST(Functions, Occupancy) {
  int blocks = 0;
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &test::fill, 1024, 0));
  EXPECT_EQ(blocks, 2);
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, &test::fill, 32, 0, 0));
  EXPECT_EQ(blocks, 32);
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &test::bounded, 256, 0));
  EXPECT_EQ(blocks, 0);
  FAILS(cudaErrorInvalidValue, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &test::fill, 0, 0));
  FAILS(cudaErrorInvalidDeviceFunction,
        cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, &blocks, 32, 0, 0));
  std::size_t bytes = 0;
  OK(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, &test::fill, 4, 256));
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &test::fill, 256, bytes));
  EXPECT_GE(blocks, 4);
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &test::fill, 256, bytes + 1024));
  EXPECT_LT(blocks, 4);
  FAILS(cudaErrorInvalidValue, cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, &test::fill, 0, 256));
  // 9 KiB a block: 32 KiB of shared memory hold 3, 228 KiB 25.
  OK(cudaFuncSetAttribute(&test::add, cudaFuncAttributePreferredSharedMemoryCarveout, 14));
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &test::add, 64, 8192));
  EXPECT_EQ(blocks, 3);
  OK(cudaFuncSetAttribute(&test::add, cudaFuncAttributePreferredSharedMemoryCarveout, 100));
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &test::add, 64, 8192));
  EXPECT_EQ(blocks, 25);
  OK(cudaFuncSetAttribute(&test::add, cudaFuncAttributePreferredSharedMemoryCarveout, -1));
  cudaLaunchConfig_t config{};
  config.gridDim = {8, 1, 1};
  config.blockDim = {128, 1, 1};
  int value = 0;
  OK(cudaOccupancyMaxPotentialClusterSize(&value, &test::fill, &config));
  EXPECT_EQ(value, 8);
  OK(cudaOccupancyMaxActiveClusters(&value, &test::fill, &config));
  EXPECT_GT(value, 0);
  FAILS(cudaErrorInvalidValue, cudaOccupancyMaxPotentialClusterSize(&value, &test::fill, nullptr));
  FAILS(cudaErrorInvalidDeviceFunction, cudaOccupancyMaxActiveClusters(&value, &value, &config));
}

// The error depends on the code's problem: it does not parse, it uses an unsupported feature, or there is none for this
// GPU.
TEST(Registration, CodeThatCannotRun) {
  const std::string head = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry kernel() {\n";
  const struct {
    std::string image;
    bool machine_code;
    cudaError_t error;
  } cases[] = {
      {head + "  mov.u32 %unknown, 1;\n  ret;\n}\n", false, cudaErrorInvalidPtx},
      {head +
           "  .reg .f32 %f<4>; .reg .b64 %q; .reg .b32 %r; .reg .pred %p;\n  wgmma.mma_async.sp.sync.aligned.m64n8k32"
           ".f32.f16.f16 {%f0, %f1}, %q, %q, %r, 0, %p, 1, 1, 0, 0;\n  ret;\n}\n",
       false, cudaErrorNotSupported},
      {"no machine code of ours", true, cudaErrorNoKernelImageForDevice},
      {head + "  ret;\n}\n", false, cudaSuccess}};
  static char hosts[std::size(cases)];
  for (std::size_t i = 0; i < std::size(cases); ++i) {
    void** handle = test::register_program(cases[i].image, "kernel", &hosts[i], cases[i].machine_code);
    FAILS(cases[i].error, cudaLaunchKernel(&hosts[i], {1, 1, 1}, {1, 1, 1}, nullptr, 0, nullptr)) << cases[i].image;
    FAILS(cases[i].error, cudaGetLastError());
    OK(cudaDeviceSynchronize());
    __cudaUnregisterFatBinary(handle);
    FAILS(cudaErrorInvalidDeviceFunction, cudaLaunchKernel(&hosts[i], {1, 1, 1}, {1, 1, 1}, nullptr, 0, nullptr));
    FAILS(cudaErrorInvalidDeviceFunction, cudaGetLastError());
  }
}

// After a library is unloaded, its kernels and variables are unknown.
TEST(Registration, UnknownAfterUnregistering) {
  static char kernel, variable, managed_shadow;
  static void* managed = nullptr;
  struct {
    int magic = 0x466243b1, version = 1;
    const void* data = "nothing that is a fatbin";
    void* unused = nullptr;
  } wrapper;
  void** broken = __cudaRegisterFatBinary(&wrapper);  // reports the error; later calls on it are harmless
  __cudaRegisterFunction(broken, &kernel, &kernel, "kernel", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
  __cudaRegisterVar(broken, &variable, &variable, "variable", 0, 4, 0, 0);
  __cudaRegisterManagedVar(broken, &managed, &managed_shadow, "managed", 0, 4, 0, 0);
  __cudaRegisterHostVar(broken, "host", &variable, 4);
  __cudaRegisterUnifiedTable(broken, nullptr);
  __cudaRegisterFatBinaryEnd(broken);
  EXPECT_EQ(__cudaInitModule(broken), 1);
  cudaKernel_t handle = nullptr;
  FAILS(cudaErrorInvalidDeviceFunction, cudaGetKernel(&handle, &kernel));
  __cudaUnregisterFatBinary(broken);
  __cudaUnregisterFatBinary(nullptr);
}

}  // namespace warpgrind::runtime
