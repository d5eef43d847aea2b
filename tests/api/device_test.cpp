// Device management, versions, peers, limits.
#include <string>

#include "api_test.h"

namespace warpgrind::runtime {

TEST(Devices, CountAndChoice) {
  int count = 0, device = -1;
  OK(cudaGetDeviceCount(&count));
  EXPECT_EQ(count, 2);
  FAILS(cudaErrorInvalidValue, cudaGetDeviceCount(nullptr));
  OK(cudaSetDevice(1));
  OK(cudaGetDevice(&device));
  EXPECT_EQ(device, 1);
  FAILS(cudaErrorInvalidDevice, cudaSetDevice(2));
  FAILS(cudaErrorInvalidDevice, cudaSetDevice(99));
  FAILS(cudaErrorInvalidDevice, cudaSetDevice(-1));
  OK(cudaGetDevice(&device));
  EXPECT_EQ(device, 1);
  OK(cudaSetDevice(0));
  FAILS(cudaErrorInvalidValue, cudaGetDevice(nullptr));
  OK(cudaInitDevice(1, 0, 0));
  FAILS(cudaErrorInvalidDevice, cudaInitDevice(2, 0, 0));
  int list[] = {1, 0}, wrong[] = {0, 7};
  OK(cudaSetValidDevices(list, 2));
  FAILS(cudaErrorInvalidDevice, cudaSetValidDevices(wrong, 2));
  FAILS(cudaErrorInvalidValue, cudaSetValidDevices(nullptr, 2));
  FAILS(cudaErrorInvalidValue, cudaSetValidDevices(list, -1));
}

TEST(Devices, Properties) {
  cudaDeviceProp p{};
  OK(cudaGetDeviceProperties(&p, 0));
  EXPECT_NE(std::string(p.name).find("H200"), std::string::npos);
  EXPECT_EQ(p.major * 10 + p.minor, 90);
  EXPECT_EQ(p.warpSize, 32);
  EXPECT_EQ(p.maxThreadsPerBlock, 1024);
  FAILS(cudaErrorInvalidDevice, cudaGetDeviceProperties(&p, 2));
  FAILS(cudaErrorInvalidValue, cudaGetDeviceProperties(nullptr, 0));
  int value = 0, chosen = -1;
  OK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, 0));
  EXPECT_EQ(value, 1024);
  OK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
  EXPECT_EQ(value, p.multiProcessorCount);
  FAILS(cudaErrorInvalidValue, cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(100000), 0));
  FAILS(cudaErrorInvalidDevice, cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, -1));
  OK(cudaChooseDevice(&chosen, &p));
  EXPECT_EQ(chosen, 0);
  FAILS(cudaErrorInvalidValue, cudaChooseDevice(&chosen, nullptr));
  std::size_t width = 0;
  cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
  OK(cudaDeviceGetTexture1DLinearMaxWidth(&width, &format, 0));
  EXPECT_EQ(width, std::size_t{1} << 30);
  FAILS(cudaErrorInvalidValue, cudaDeviceGetTexture1DLinearMaxWidth(nullptr, &format, 0));
}

TEST(Devices, AttributesAreTheProperties) {
  cudaDeviceProp p{};
  OK(cudaGetDeviceProperties(&p, 1));
#define WG_ATTRIBUTE(number, runtime_name, driver_name, field, value)                             \
  {                                                                                               \
    int attribute = -77;                                                                          \
    OK(cudaDeviceGetAttribute(&attribute, static_cast<cudaDeviceAttr>(number), 1));               \
    EXPECT_EQ(attribute, static_cast<int>(p.field)) << #runtime_name " " #driver_name " " #field; \
  }
#include "warpgrind/device_attributes.inc"
}

TEST(Devices, Versions) {
  int driver = 0, runtime = 0;
  OK(cudaDriverGetVersion(&driver));
  OK(cudaRuntimeGetVersion(&runtime));
  EXPECT_EQ(driver / 1000, 13);
  EXPECT_EQ(runtime / 1000, 13);
  FAILS(cudaErrorInvalidValue, cudaDriverGetVersion(nullptr));
  FAILS(cudaErrorInvalidValue, cudaRuntimeGetVersion(nullptr));
}

TEST(Devices, BusId) {
  char id[32] = "";
  int device = -1;
  OK(cudaDeviceGetPCIBusId(id, sizeof id, 1));
  OK(cudaDeviceGetByPCIBusId(&device, id));
  EXPECT_EQ(device, 1);
  FAILS(cudaErrorInvalidValue, cudaDeviceGetPCIBusId(id, 4, 0));
  FAILS(cudaErrorInvalidDevice, cudaDeviceGetPCIBusId(id, sizeof id, 5));
  FAILS(cudaErrorInvalidValue, cudaDeviceGetByPCIBusId(&device, "nonsense"));
  FAILS(cudaErrorInvalidDevice, cudaDeviceGetByPCIBusId(&device, "0000:7F:00.0"));
}

TEST(Devices, Flags) {
  unsigned flags = 0;
  OK(cudaSetDeviceFlags(4));  // cudaDeviceScheduleBlockingSync
  OK(cudaGetDeviceFlags(&flags));
  EXPECT_EQ(flags & 7u, 4u);
  FAILS(cudaErrorInvalidValue, cudaSetDeviceFlags(1u << 20));
  FAILS(cudaErrorInvalidValue, cudaGetDeviceFlags(nullptr));
  OK(cudaDeviceReset());
}

// The heap for malloc in kernels has the requested size. After the launch of a kernel that uses it, the size stays
// fixed (CUDA's manual: changing it then is cudaErrorInvalidValue).
TEST(Devices, HeapOfKernels) {
  static char host;
  void** handle = test::register_program(R"(
.version 8.0
.target sm_90
.address_size 64
.extern .func (.param .b64 r) malloc(.param .b64 bytes);
.visible .entry take(.param .u64 out) {
  .reg .u64 %rd<4>;
  .reg .u32 %r<2>;
  .reg .pred %p;
  ld.param.u64 %rd0, [out];
  mov.u32 %r0, 0;
$next:
  { .param .b64 bytes; .param .b64 r;
    st.param.b64 [bytes], 65536;
    call.uni (r), malloc, (bytes);
    ld.param.b64 %rd1, [r]; }
  setp.eq.u64 %p, %rd1, 0;
  @%p bra $done;
  add.u32 %r0, %r0, 1;
  bra $next;
$done:
  st.global.u32 [%rd0], %r0;
  ret;
}
)",
                                         "take", &host);
  // A failed call before any use of a device opens the JIT. It must still find malloc.
  FAILS(cudaErrorInvalidValue, cudaGetDeviceCount(nullptr));
  OK(cudaSetDevice(1));
  std::size_t size = 0;
  OK(cudaDeviceGetLimit(&size, cudaLimitMallocHeapSize));
  EXPECT_EQ(size, 8u << 20);
  OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
  {
    test::Words out(1);
    unsigned* p = out;
    void* parameters[] = {&p};
    OK(cudaLaunchKernel(&host, {1, 1, 1}, {1, 1, 1}, parameters, 0, nullptr));
    EXPECT_EQ(out.read()[0], 256u);
  }
  FAILS(cudaErrorInvalidValue, cudaDeviceSetLimit(cudaLimitMallocHeapSize, 32 << 20));
  OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
  OK(cudaDeviceGetLimit(&size, cudaLimitMallocHeapSize));
  EXPECT_EQ(size, 16u << 20);
  OK(cudaSetDevice(0));
  __cudaUnregisterFatBinary(handle);
}

TEST(Devices, Limits) {
  std::size_t value = 0;
  OK(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
  OK(cudaDeviceGetLimit(&value, cudaLimitStackSize));
  EXPECT_EQ(value, 4096u);
  FAILS(cudaErrorInvalidValue, cudaDeviceSetLimit(cudaLimitStackSize, std::size_t{1} << 59));
  FAILS(cudaErrorInvalidValue, cudaDeviceSetLimit(cudaLimitStackSize, (512 << 10) + 1));
  OK(cudaDeviceGetLimit(&value, cudaLimitStackSize));
  EXPECT_EQ(value, 4096u);
  FAILS(cudaErrorUnsupportedLimit, cudaDeviceSetLimit(static_cast<cudaLimit>(77), 1));
  FAILS(cudaErrorUnsupportedLimit, cudaDeviceGetLimit(&value, static_cast<cudaLimit>(-1)));
  OK(cudaDeviceReset());
  OK(cudaDeviceGetLimit(&value, cudaLimitStackSize));
  EXPECT_EQ(value, 1024u);
}

TEST(Devices, CacheAndBanks) {
  cudaFuncCache cache{};
  cudaSharedMemConfig banks{};
  OK(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared));
  OK(cudaDeviceGetCacheConfig(&cache));
  FAILS(cudaErrorInvalidValue, cudaDeviceSetCacheConfig(static_cast<cudaFuncCache>(4)));
  FAILS(cudaErrorInvalidValue, cudaDeviceGetCacheConfig(nullptr));
  OK(cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeFourByte));
  OK(cudaDeviceGetSharedMemConfig(&banks));
  EXPECT_EQ(banks, cudaSharedMemBankSizeFourByte);  // the only size since compute capability 5
  FAILS(cudaErrorInvalidValue, cudaDeviceSetSharedMemConfig(static_cast<cudaSharedMemConfig>(3)));
  FAILS(cudaErrorInvalidValue, cudaDeviceGetSharedMemConfig(nullptr));
  OK(cudaCtxResetPersistingL2Cache());
}

TEST(Devices, SynchronizeBringsFaultsAndResetEndsThem) {
  {
    unsigned* p = nullptr;
    OK(cudaMalloc(reinterpret_cast<void**>(&p), 16));
    void* parameters[] = {&p};
    OK(cudaLaunchKernel(&test::broken, {1, 1, 1}, {1, 1, 1}, parameters, 0, nullptr));
    FAILS(cudaErrorIllegalAddress, cudaDeviceSynchronize());
    FAILS(cudaErrorIllegalAddress, cudaMalloc(reinterpret_cast<void**>(&p), 4));
    EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
    EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);  // the error is sticky
  }
  OK(cudaDeviceReset());
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  OK(cudaDeviceSynchronize());
  test::Words after(4, 5);
  OK(test::launch_fill(after, 9, 4));
  EXPECT_EQ(after.read(), std::vector<unsigned>(4, 9));
}

TEST(Devices, Peers) {
  int can = -1;
  OK(cudaDeviceCanAccessPeer(&can, 0, 1));
  EXPECT_EQ(can, 1);
  OK(cudaDeviceCanAccessPeer(&can, 0, 0));
  EXPECT_EQ(can, 0);
  FAILS(cudaErrorInvalidDevice, cudaDeviceCanAccessPeer(&can, 0, 2));
  FAILS(cudaErrorInvalidValue, cudaDeviceCanAccessPeer(nullptr, 0, 1));
  OK(cudaDeviceEnablePeerAccess(1, 0));
  FAILS(cudaErrorPeerAccessAlreadyEnabled, cudaDeviceEnablePeerAccess(1, 0));
  FAILS(cudaErrorInvalidValue, cudaDeviceEnablePeerAccess(1, 5));
  FAILS(cudaErrorInvalidDevice, cudaDeviceEnablePeerAccess(0, 0));
  OK(cudaDeviceDisablePeerAccess(1));
  FAILS(cudaErrorPeerAccessNotEnabled, cudaDeviceDisablePeerAccess(1));
  int value = -1;
  OK(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 1));
  EXPECT_EQ(value, 1);
  FAILS(cudaErrorInvalidDevice, cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 0));
  FAILS(cudaErrorInvalidValue, cudaDeviceGetP2PAttribute(&value, static_cast<cudaDeviceP2PAttr>(9), 0, 1));
}

TEST(Devices, Profiler) {
  OK(cudaProfilerStart());
  OK(cudaProfilerStop());
}

TEST(Errors, LastErrorIsKeptUntilRead) {
  cudaGetLastError();
  FAILS(cudaErrorInvalidDevice, cudaSetDevice(99));
  OK(cudaSetDevice(0));  // a success in between does not clear it
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_STREQ(cudaGetErrorName(cudaErrorInvalidDevice), "cudaErrorInvalidDevice");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorInvalidDevice), "invalid device ordinal");
  EXPECT_STREQ(cudaGetErrorName(static_cast<cudaError_t>(123456)), "unrecognized error code");
}

TEST(Devices, DriverEntryPoints) {
  using Count = int (*)(int*);
  void *function = nullptr, *own = nullptr;
  cudaDriverEntryPointQueryResult status{};
  int count = 0;
  OK(cudaGetDriverEntryPoint("cuDeviceGetCount", &function, cudaEnableDefault, &status));
  EXPECT_EQ(status, cudaDriverEntryPointSuccess);
  EXPECT_EQ(reinterpret_cast<Count>(function)(&count), 0);
  EXPECT_EQ(count, 2);
  OK(cudaGetDriverEntryPointByVersion("cuCtxGetId", &function, 11080, cudaEnableDefault, &status));
  EXPECT_EQ(status, cudaDriverEntryPointVersionNotSufficent);
  EXPECT_EQ(function, nullptr);
  OK(cudaGetDriverEntryPoint("cuMakeCoffee", &function, cudaEnableDefault, &status));
  EXPECT_EQ(status, cudaDriverEntryPointSymbolNotFound);
  FAILS(cudaErrorInvalidValue, cudaGetDriverEntryPoint(nullptr, &function, cudaEnableDefault, &status));
  FAILS(cudaErrorInvalidValue,
        cudaGetDriverEntryPointByVersion("cuInit", &function, 99000, cudaEnableDefault, &status));
  // The functions for programs compiled with --default-stream per-thread.
  OK(cudaGetDriverEntryPoint_ptsz("cuStreamQuery", &own, cudaEnableDefault, nullptr));
  OK(cudaGetDriverEntryPoint("cuStreamQuery", &function, cudaEnableDefault, nullptr));
  EXPECT_NE(function, own);
  OK(cudaGetDriverEntryPointByVersion_ptsz("cuStreamQuery", &own, 13000, cudaEnableLegacyStream, nullptr));
  EXPECT_EQ(function, own);
}

}  // namespace warpgrind::runtime
