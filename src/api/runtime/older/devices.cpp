// Older forms of runtime functions: devices, cudaThread* functions (before CUDA 4), events.
#include <cstring>

#include "runtime/call.h"
#include "runtime/older/functions.h"

namespace warpgrind::runtime {

namespace {

// Copies every member that CUDA 11's structure and ours for CUDA 13 share by name. Ours has clockRate and the other
// members that CUDA 13 removed, in the space that 13 reserves.
template <class To, class From>
void copy_shared(To& to, const From& from) {
#define WG_SAME(member)                                    \
  static_assert(sizeof(to.member) == sizeof(from.member)); \
  std::memcpy(&to.member, &from.member, sizeof(to.member))
  WG_SAME(name);
  WG_SAME(uuid);
  WG_SAME(luid);
  WG_SAME(luidDeviceNodeMask);
  WG_SAME(totalGlobalMem);
  WG_SAME(sharedMemPerBlock);
  WG_SAME(regsPerBlock);
  WG_SAME(warpSize);
  WG_SAME(memPitch);
  WG_SAME(maxThreadsPerBlock);
  WG_SAME(maxThreadsDim);
  WG_SAME(maxGridSize);
  WG_SAME(clockRate);
  WG_SAME(totalConstMem);
  WG_SAME(major);
  WG_SAME(minor);
  WG_SAME(textureAlignment);
  WG_SAME(texturePitchAlignment);
  WG_SAME(deviceOverlap);
  WG_SAME(multiProcessorCount);
  WG_SAME(kernelExecTimeoutEnabled);
  WG_SAME(integrated);
  WG_SAME(canMapHostMemory);
  WG_SAME(computeMode);
  WG_SAME(maxTexture1D);
  WG_SAME(maxTexture1DMipmap);
  WG_SAME(maxTexture1DLinear);
  WG_SAME(maxTexture2D);
  WG_SAME(maxTexture2DMipmap);
  WG_SAME(maxTexture2DLinear);
  WG_SAME(maxTexture2DGather);
  WG_SAME(maxTexture3D);
  WG_SAME(maxTexture3DAlt);
  WG_SAME(maxTextureCubemap);
  WG_SAME(maxTexture1DLayered);
  WG_SAME(maxTexture2DLayered);
  WG_SAME(maxTextureCubemapLayered);
  WG_SAME(maxSurface1D);
  WG_SAME(maxSurface2D);
  WG_SAME(maxSurface3D);
  WG_SAME(maxSurface1DLayered);
  WG_SAME(maxSurface2DLayered);
  WG_SAME(maxSurfaceCubemap);
  WG_SAME(maxSurfaceCubemapLayered);
  WG_SAME(surfaceAlignment);
  WG_SAME(concurrentKernels);
  WG_SAME(ECCEnabled);
  WG_SAME(pciBusID);
  WG_SAME(pciDeviceID);
  WG_SAME(pciDomainID);
  WG_SAME(tccDriver);
  WG_SAME(asyncEngineCount);
  WG_SAME(unifiedAddressing);
  WG_SAME(memoryClockRate);
  WG_SAME(memoryBusWidth);
  WG_SAME(l2CacheSize);
  WG_SAME(persistingL2CacheMaxSize);
  WG_SAME(maxThreadsPerMultiProcessor);
  WG_SAME(streamPrioritiesSupported);
  WG_SAME(globalL1CacheSupported);
  WG_SAME(localL1CacheSupported);
  WG_SAME(sharedMemPerMultiprocessor);
  WG_SAME(regsPerMultiprocessor);
  WG_SAME(managedMemory);
  WG_SAME(isMultiGpuBoard);
  WG_SAME(multiGpuBoardGroupID);
  WG_SAME(hostNativeAtomicSupported);
  WG_SAME(singleToDoublePrecisionPerfRatio);
  WG_SAME(pageableMemoryAccess);
  WG_SAME(concurrentManagedAccess);
  WG_SAME(computePreemptionSupported);
  WG_SAME(canUseHostPointerForRegisteredMem);
  WG_SAME(cooperativeLaunch);
  WG_SAME(cooperativeMultiDeviceLaunch);
  WG_SAME(sharedMemPerBlockOptin);
  WG_SAME(pageableMemoryAccessUsesHostPageTables);
  WG_SAME(directManagedMemAccessFromHost);
  WG_SAME(maxBlocksPerMultiProcessor);
  WG_SAME(accessPolicyMaxWindowSize);
  WG_SAME(reservedSharedMemPerBlock);
}
void copy_added_by_12(DeviceProperties12& to, const cudaDeviceProp& from) {
  WG_SAME(hostRegisterSupported);
  WG_SAME(sparseCudaArraySupported);
  WG_SAME(hostRegisterReadOnlySupported);
  WG_SAME(timelineSemaphoreInteropSupported);
  WG_SAME(memoryPoolsSupported);
  WG_SAME(gpuDirectRDMASupported);
  WG_SAME(gpuDirectRDMAFlushWritesOptions);
  WG_SAME(gpuDirectRDMAWritesOrdering);
  WG_SAME(memoryPoolSupportedHandleTypes);
  WG_SAME(deferredMappingCudaArraySupported);
  WG_SAME(ipcEventSupported);
  WG_SAME(clusterLaunch);
  WG_SAME(unifiedFunctionPointers);
#undef WG_SAME
}

}  // namespace

extern "C" {

WG_API cudaError_t warpgrind_older_cudaGetDeviceProperties(DeviceProperties11* out, int device) {
  cudaDeviceProp now;
  const cudaError_t error = cudaGetDeviceProperties(out ? &now : nullptr, device);
  if (error != cudaSuccess || !out) return error;
  *out = {};
  copy_shared(*out, now);
  return error;
}
WG_API cudaError_t warpgrind_cuda12_cudaGetDeviceProperties_v2(DeviceProperties12* out, int device) {
  cudaDeviceProp now;
  const cudaError_t error = cudaGetDeviceProperties(out ? &now : nullptr, device);
  if (error != cudaSuccess || !out) return error;
  *out = {};
  copy_shared(*out, now);
  copy_added_by_12(*out, now);
  return error;
}
WG_API cudaError_t warpgrind_older_cudaChooseDevice(int* device, const DeviceProperties11* properties) {
  cudaDeviceProp now{};
  if (properties) copy_shared(now, *properties);
  return cudaChooseDevice(device, properties ? &now : nullptr);
}

// Reports the last minor release (11.8, 12.9), since programs use the version to test whether a function is available.
static cudaError_t give_version(int* version, int value) {
  const cudaError_t error = cudaRuntimeGetVersion(version);
  if (error == cudaSuccess) *version = value;
  return error;
}
WG_API cudaError_t warpgrind_cuda11_cudaRuntimeGetVersion(int* version) {
  return give_version(version, 11080);
}
WG_API cudaError_t warpgrind_cuda12_cudaRuntimeGetVersion(int* version) {
  return give_version(version, 12090);
}

WG_API cudaError_t warpgrind_older_cudaThreadExit() {
  return cudaDeviceReset();
}
WG_API cudaError_t warpgrind_older_cudaThreadSynchronize() {
  return cudaDeviceSynchronize();
}
WG_API cudaError_t warpgrind_older_cudaThreadGetLimit(size_t* value, cudaLimit limit) {
  return cudaDeviceGetLimit(value, limit);
}
WG_API cudaError_t warpgrind_older_cudaThreadSetLimit(cudaLimit limit, size_t value) {
  return cudaDeviceSetLimit(limit, value);
}
WG_API cudaError_t warpgrind_older_cudaThreadGetCacheConfig(cudaFuncCache* config) {
  return cudaDeviceGetCacheConfig(config);
}
WG_API cudaError_t warpgrind_older_cudaThreadSetCacheConfig(cudaFuncCache config) {
  return cudaDeviceSetCacheConfig(config);
}
// Configured the command-line profiler, which CUDA removed. Does nothing, as it did when none was active.
WG_API cudaError_t warpgrind_cuda11_cudaProfilerInitialize(const char*, const char*, int) {
  return api([&] { return cudaSuccess; });
}

WG_API cudaError_t warpgrind_cuda12_cudaEventElapsedTime_v2(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return cudaEventElapsedTime(milliseconds, start, end);
}

}  // extern "C"

}  // namespace warpgrind::runtime
