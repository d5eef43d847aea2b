// Properties and attributes of a GPU model, as a program sees them. Figures that the models do not have (texture
// limits, ids) are the same for all GPUs of a compute capability: CUDA C++ Programming Guide, appendix "Compute
// Capabilities", table of technical specifications.
#include "semantics/device_properties.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace warpgrind::semantics {

namespace {

struct TextureLimits {
  int d1, d1_mip, d1_linear, d2[2], d2_mip[2], d2_linear[3], d2_gather[2], d3[3], cubemap, d1_layered[2], d2_layered[3],
      cubemap_layered[2], s1, s2[2], s3[3];
};

const TextureLimits& limits_of(const GpuModel& model) {
  static const TextureLimits tesla{8192,
                                   8192,
                                   134217728,
                                   {65536, 32768},
                                   {8192, 8192},
                                   {65000, 65000, 1048544},
                                   {0, 0},
                                   {2048, 2048, 2048},
                                   0,
                                   {8192, 512},
                                   {8192, 8192, 512},
                                   {0, 0},
                                   8192,
                                   {8192, 8192},
                                   {2048, 2048, 2048}};
  static const TextureLimits fermi{65536,
                                   16384,
                                   134217728,
                                   {65536, 65535},
                                   {16384, 16384},
                                   {65000, 65000, 1048544},
                                   {16384, 16384},
                                   {2048, 2048, 2048},
                                   16384,
                                   {16384, 2048},
                                   {16384, 16384, 2048},
                                   {16384, 2046},
                                   65536,
                                   {65536, 32768},
                                   {65536, 32768, 2048}};
  static const TextureLimits kepler{65536,
                                    16384,
                                    134217728,
                                    {65536, 65536},
                                    {16384, 16384},
                                    {65000, 65000, 1048544},
                                    {16384, 16384},
                                    {4096, 4096, 4096},
                                    16384,
                                    {16384, 2048},
                                    {16384, 16384, 2048},
                                    {16384, 2046},
                                    65536,
                                    {65536, 32768},
                                    {65536, 32768, 2048}};
  static const TextureLimits pascal{131072,
                                    32768,
                                    268435456,
                                    {131072, 65536},
                                    {32768, 32768},
                                    {131072, 65000, 2097120},
                                    {32768, 32768},
                                    {16384, 16384, 16384},
                                    32768,
                                    {32768, 2048},
                                    {32768, 32768, 2048},
                                    {32768, 2046},
                                    32768,
                                    {131072, 65536},
                                    {16384, 16384, 16384}};
  if (model.cc_major >= 6) return pascal;
  if (model.cc_major >= 3) return kepler;
  return model.cc_major == 2 ? fermi : tesla;
}

int persisting_l2(const GpuModel& model) {
  return model.cc_major >= 8 ? static_cast<int>(std::min<std::uint64_t>(model.l2_bytes * 5 / 8, 1u << 30)) : 0;
}

int as_int(std::uint64_t value) {
  return static_cast<int>(std::min<std::uint64_t>(value, 0x7fffffff));
}

void fill_textures(const GpuModel& model, cudaDeviceProp& p) {
  const TextureLimits& t = limits_of(model);
  p.maxTexture1D = t.d1;
  p.maxTexture1DMipmap = t.d1_mip;
  std::copy_n(t.d2, 2, p.maxTexture2D);
  std::copy_n(t.d2_mip, 2, p.maxTexture2DMipmap);
  std::copy_n(t.d2_linear, 3, p.maxTexture2DLinear);
  std::copy_n(t.d2_gather, 2, p.maxTexture2DGather);
  std::copy_n(t.d3, 3, p.maxTexture3D);
  p.maxTexture3DAlt[0] = p.maxTexture3DAlt[1] = t.d3[0] / 2;
  p.maxTexture3DAlt[2] = t.d3[0] * 2;
  p.maxTextureCubemap = t.cubemap;
  std::copy_n(t.d1_layered, 2, p.maxTexture1DLayered);
  std::copy_n(t.d2_layered, 3, p.maxTexture2DLayered);
  std::copy_n(t.cubemap_layered, 2, p.maxTextureCubemapLayered);
  p.maxSurface1D = t.s1;
  std::copy_n(t.s2, 2, p.maxSurface2D);
  std::copy_n(t.s3, 3, p.maxSurface3D);
  std::copy_n(t.d1_layered, 2, p.maxSurface1DLayered);
  std::copy_n(t.d2_layered, 3, p.maxSurface2DLayered);
  p.maxSurfaceCubemap = t.cubemap;
  std::copy_n(t.cubemap_layered, 2, p.maxSurfaceCubemapLayered);
}

}  // namespace

void fill_properties(const GpuModel& m, int device, cudaDeviceProp& p) {
  std::memset(&p, 0, sizeof p);
  std::snprintf(p.name, sizeof p.name, "%s", m.name.c_str());
  std::snprintf(p.uuid.bytes, sizeof p.uuid.bytes, "warpgrind%d", device);
  p.totalGlobalMem = m.memory_bytes;
  p.sharedMemPerBlock = m.shared_per_block;
  p.regsPerBlock = static_cast<int>(m.registers_per_block);
  p.warpSize = 32;
  p.memPitch = 0x7fffffff;
  p.maxThreadsPerBlock = static_cast<int>(m.max_threads_per_block);
  for (int i = 0; i < 3; i++) {
    p.maxThreadsDim[i] = static_cast<int>(m.max_block_dim[i]);
    p.maxGridSize[i] = as_int(m.max_grid_dim[i]);
  }
  p.totalConstMem = m.constant_bytes;
  p.major = m.cc_major;
  p.minor = m.cc_minor;
  p.textureAlignment = m.texture_alignment;
  p.texturePitchAlignment = m.texture_pitch_alignment;
  p.multiProcessorCount = static_cast<int>(m.sm_count);
  p.canMapHostMemory = 1;
  fill_textures(m, p);
  p.surfaceAlignment = m.texture_alignment;
  p.concurrentKernels = m.concurrent_kernels;
  p.ECCEnabled = m.ecc;
  p.pciBusID = device + 1;
  p.asyncEngineCount = static_cast<int>(m.copy_engines);
  p.unifiedAddressing = m.unified_addressing;
  p.memoryBusWidth = static_cast<int>(m.memory_bus_bits);
  p.l2CacheSize = as_int(m.l2_bytes);
  p.persistingL2CacheMaxSize = persisting_l2(m);
  p.maxThreadsPerMultiProcessor = static_cast<int>(m.max_threads_per_sm);
  p.streamPrioritiesSupported = m.cc_major >= 4;
  p.globalL1CacheSupported = m.cc_major >= 2;
  p.localL1CacheSupported = m.cc_major >= 2;
  p.sharedMemPerMultiprocessor = m.shared_per_sm;
  p.regsPerMultiprocessor = static_cast<int>(m.registers_per_sm);
  p.managedMemory = m.managed_memory;
  p.multiGpuBoardGroupID = device;
  p.hostNativeAtomicSupported = 0;
  p.concurrentManagedAccess = m.managed_memory && m.cc_major >= 6;
  p.computePreemptionSupported = m.cc_major >= 6;
  p.canUseHostPointerForRegisteredMem = m.unified_addressing && m.cc_major >= 6;
  p.cooperativeLaunch = m.cooperative_launch;
  p.sharedMemPerBlockOptin = m.shared_per_block_optin ? m.shared_per_block_optin : m.shared_per_block;
  p.maxBlocksPerMultiProcessor = static_cast<int>(m.max_blocks_per_sm);
  p.accessPolicyMaxWindowSize = m.cc_major >= 8 ? 128 << 20 : 0;
  p.reservedSharedMemPerBlock = m.shared_reserved_per_block;
  p.hostRegisterSupported = m.host_register;
  p.hostRegisterReadOnlySupported = m.host_register;
  p.memoryPoolsSupported = m.cc_major >= 6;
  p.memoryPoolSupportedHandleTypes = p.memoryPoolsSupported ? cudaMemHandleTypePosixFileDescriptor : 0;
  p.ipcEventSupported = 1;
  p.unifiedFunctionPointers = 0;
  p.deviceNumaId = -1;
  p.hostNumaId = -1;
  p.clusterLaunch = m.cc_major >= 9;
  p.clockRate = static_cast<int>(m.sm_clock_mhz * 1000);
  p.memoryClockRate = static_cast<int>(m.memory_clock_mhz * 1000);
  p.deviceOverlap = m.copy_engines > 0;
  p.singleToDoublePrecisionPerfRatio =
      m.cores_fp64_per_sm ? static_cast<int>(m.cores_fp32_per_sm / m.cores_fp64_per_sm) : 0;
  p.maxTexture1DLinear = limits_of(m).d1_linear;
}

namespace {

// Attributes that are a field of the properties.
bool from_properties(const cudaDeviceProp& p, cudaDeviceAttr attribute, int& out) {
  switch (attribute) {
#define WG_IS(number, value)       \
  case number:                     \
    out = static_cast<int>(value); \
    return true;
    WG_IS(cudaDevAttrMaxThreadsPerBlock, p.maxThreadsPerBlock)
    WG_IS(cudaDevAttrMaxBlockDimX, p.maxThreadsDim[0])
    WG_IS(cudaDevAttrMaxBlockDimY, p.maxThreadsDim[1])
    WG_IS(cudaDevAttrMaxBlockDimZ, p.maxThreadsDim[2])
    WG_IS(cudaDevAttrMaxGridDimX, p.maxGridSize[0])
    WG_IS(cudaDevAttrMaxGridDimY, p.maxGridSize[1])
    WG_IS(cudaDevAttrMaxGridDimZ, p.maxGridSize[2])
    WG_IS(cudaDevAttrMaxSharedMemoryPerBlock, p.sharedMemPerBlock)
    WG_IS(cudaDevAttrTotalConstantMemory, p.totalConstMem)
    WG_IS(cudaDevAttrWarpSize, p.warpSize)
    WG_IS(cudaDevAttrMaxPitch, p.memPitch)
    WG_IS(cudaDevAttrMaxRegistersPerBlock, p.regsPerBlock)
    WG_IS(cudaDevAttrClockRate, p.clockRate)
    WG_IS(cudaDevAttrTextureAlignment, p.textureAlignment)
    WG_IS(cudaDevAttrGpuOverlap, p.asyncEngineCount > 0)
    WG_IS(cudaDevAttrMultiProcessorCount, p.multiProcessorCount)
    WG_IS(cudaDevAttrIntegrated, p.integrated)
    WG_IS(cudaDevAttrCanMapHostMemory, p.canMapHostMemory)
    WG_IS(cudaDevAttrMaxTexture1DWidth, p.maxTexture1D)
    WG_IS(cudaDevAttrMaxTexture2DWidth, p.maxTexture2D[0])
    WG_IS(cudaDevAttrMaxTexture2DHeight, p.maxTexture2D[1])
    WG_IS(cudaDevAttrMaxTexture3DWidth, p.maxTexture3D[0])
    WG_IS(cudaDevAttrMaxTexture3DHeight, p.maxTexture3D[1])
    WG_IS(cudaDevAttrMaxTexture3DDepth, p.maxTexture3D[2])
    WG_IS(cudaDevAttrMaxTexture2DLayeredWidth, p.maxTexture2DLayered[0])
    WG_IS(cudaDevAttrMaxTexture2DLayeredHeight, p.maxTexture2DLayered[1])
    WG_IS(cudaDevAttrMaxTexture2DLayeredLayers, p.maxTexture2DLayered[2])
    WG_IS(cudaDevAttrSurfaceAlignment, p.surfaceAlignment)
    WG_IS(cudaDevAttrConcurrentKernels, p.concurrentKernels)
    WG_IS(cudaDevAttrEccEnabled, p.ECCEnabled)
    WG_IS(cudaDevAttrPciBusId, p.pciBusID)
    WG_IS(cudaDevAttrPciDeviceId, p.pciDeviceID)
    WG_IS(cudaDevAttrTccDriver, p.tccDriver)
    WG_IS(cudaDevAttrMemoryClockRate, p.memoryClockRate)
    WG_IS(cudaDevAttrGlobalMemoryBusWidth, p.memoryBusWidth)
    WG_IS(cudaDevAttrL2CacheSize, p.l2CacheSize)
    WG_IS(cudaDevAttrMaxThreadsPerMultiProcessor, p.maxThreadsPerMultiProcessor)
    WG_IS(cudaDevAttrAsyncEngineCount, p.asyncEngineCount)
    WG_IS(cudaDevAttrUnifiedAddressing, p.unifiedAddressing)
    WG_IS(cudaDevAttrMaxTexture1DLayeredWidth, p.maxTexture1DLayered[0])
    WG_IS(cudaDevAttrMaxTexture1DLayeredLayers, p.maxTexture1DLayered[1])
    WG_IS(cudaDevAttrMaxTexture2DGatherWidth, p.maxTexture2DGather[0])
    WG_IS(cudaDevAttrMaxTexture2DGatherHeight, p.maxTexture2DGather[1])
    WG_IS(cudaDevAttrMaxTexture3DWidthAlt, p.maxTexture3DAlt[0])
    WG_IS(cudaDevAttrMaxTexture3DHeightAlt, p.maxTexture3DAlt[1])
    WG_IS(cudaDevAttrMaxTexture3DDepthAlt, p.maxTexture3DAlt[2])
    WG_IS(cudaDevAttrPciDomainId, p.pciDomainID)
    WG_IS(cudaDevAttrTexturePitchAlignment, p.texturePitchAlignment)
    WG_IS(cudaDevAttrMaxTextureCubemapWidth, p.maxTextureCubemap)
    WG_IS(cudaDevAttrMaxTextureCubemapLayeredWidth, p.maxTextureCubemapLayered[0])
    WG_IS(cudaDevAttrMaxTextureCubemapLayeredLayers, p.maxTextureCubemapLayered[1])
    WG_IS(cudaDevAttrMaxSurface1DWidth, p.maxSurface1D)
    WG_IS(cudaDevAttrMaxSurface2DWidth, p.maxSurface2D[0])
    WG_IS(cudaDevAttrMaxSurface2DHeight, p.maxSurface2D[1])
    WG_IS(cudaDevAttrMaxSurface3DWidth, p.maxSurface3D[0])
    WG_IS(cudaDevAttrMaxSurface3DHeight, p.maxSurface3D[1])
    WG_IS(cudaDevAttrMaxSurface3DDepth, p.maxSurface3D[2])
    WG_IS(cudaDevAttrMaxSurface1DLayeredWidth, p.maxSurface1DLayered[0])
    WG_IS(cudaDevAttrMaxSurface1DLayeredLayers, p.maxSurface1DLayered[1])
    WG_IS(cudaDevAttrMaxSurface2DLayeredWidth, p.maxSurface2DLayered[0])
    WG_IS(cudaDevAttrMaxSurface2DLayeredHeight, p.maxSurface2DLayered[1])
    WG_IS(cudaDevAttrMaxSurface2DLayeredLayers, p.maxSurface2DLayered[2])
    WG_IS(cudaDevAttrMaxSurfaceCubemapWidth, p.maxSurfaceCubemap)
    WG_IS(cudaDevAttrMaxSurfaceCubemapLayeredWidth, p.maxSurfaceCubemapLayered[0])
    WG_IS(cudaDevAttrMaxSurfaceCubemapLayeredLayers, p.maxSurfaceCubemapLayered[1])
    WG_IS(cudaDevAttrMaxTexture1DLinearWidth, p.maxTexture1DLinear)
    WG_IS(cudaDevAttrMaxTexture2DLinearWidth, p.maxTexture2DLinear[0])
    WG_IS(cudaDevAttrMaxTexture2DLinearHeight, p.maxTexture2DLinear[1])
    WG_IS(cudaDevAttrMaxTexture2DLinearPitch, p.maxTexture2DLinear[2])
    WG_IS(cudaDevAttrMaxTexture2DMipmappedWidth, p.maxTexture2DMipmap[0])
    WG_IS(cudaDevAttrMaxTexture2DMipmappedHeight, p.maxTexture2DMipmap[1])
    WG_IS(cudaDevAttrComputeCapabilityMajor, p.major)
    WG_IS(cudaDevAttrComputeCapabilityMinor, p.minor)
    WG_IS(cudaDevAttrMaxTexture1DMipmappedWidth, p.maxTexture1DMipmap)
    WG_IS(cudaDevAttrStreamPrioritiesSupported, p.streamPrioritiesSupported)
    WG_IS(cudaDevAttrGlobalL1CacheSupported, p.globalL1CacheSupported)
    WG_IS(cudaDevAttrLocalL1CacheSupported, p.localL1CacheSupported)
    WG_IS(cudaDevAttrMaxSharedMemoryPerMultiprocessor, p.sharedMemPerMultiprocessor)
    WG_IS(cudaDevAttrMaxRegistersPerMultiprocessor, p.regsPerMultiprocessor)
    WG_IS(cudaDevAttrManagedMemory, p.managedMemory)
    WG_IS(cudaDevAttrIsMultiGpuBoard, p.isMultiGpuBoard)
    WG_IS(cudaDevAttrMultiGpuBoardGroupID, p.multiGpuBoardGroupID)
    WG_IS(cudaDevAttrHostNativeAtomicSupported, p.hostNativeAtomicSupported)
    WG_IS(cudaDevAttrSingleToDoublePrecisionPerfRatio, p.singleToDoublePrecisionPerfRatio)
    WG_IS(cudaDevAttrPageableMemoryAccess, p.pageableMemoryAccess)
    WG_IS(cudaDevAttrConcurrentManagedAccess, p.concurrentManagedAccess)
    WG_IS(cudaDevAttrComputePreemptionSupported, p.computePreemptionSupported)
    WG_IS(cudaDevAttrCanUseHostPointerForRegisteredMem, p.canUseHostPointerForRegisteredMem)
    WG_IS(cudaDevAttrCooperativeLaunch, p.cooperativeLaunch)
    WG_IS(cudaDevAttrMaxSharedMemoryPerBlockOptin, p.sharedMemPerBlockOptin)
    WG_IS(cudaDevAttrHostRegisterSupported, p.hostRegisterSupported)
    WG_IS(cudaDevAttrPageableMemoryAccessUsesHostPageTables, p.pageableMemoryAccessUsesHostPageTables)
    WG_IS(cudaDevAttrDirectManagedMemAccessFromHost, p.directManagedMemAccessFromHost)
    WG_IS(cudaDevAttrMaxBlocksPerMultiprocessor, p.maxBlocksPerMultiProcessor)
    WG_IS(cudaDevAttrMaxPersistingL2CacheSize, p.persistingL2CacheMaxSize)
    WG_IS(cudaDevAttrMaxAccessPolicyWindowSize, p.accessPolicyMaxWindowSize)
    WG_IS(cudaDevAttrReservedSharedMemoryPerBlock, p.reservedSharedMemPerBlock)
    WG_IS(cudaDevAttrSparseCudaArraySupported, p.sparseCudaArraySupported)
    WG_IS(cudaDevAttrHostRegisterReadOnlySupported, p.hostRegisterReadOnlySupported)
    WG_IS(cudaDevAttrTimelineSemaphoreInteropSupported, p.timelineSemaphoreInteropSupported)
    WG_IS(cudaDevAttrMemoryPoolsSupported, p.memoryPoolsSupported)
    WG_IS(cudaDevAttrGPUDirectRDMASupported, p.gpuDirectRDMASupported)
    WG_IS(cudaDevAttrGPUDirectRDMAFlushWritesOptions, p.gpuDirectRDMAFlushWritesOptions)
    WG_IS(cudaDevAttrGPUDirectRDMAWritesOrdering, p.gpuDirectRDMAWritesOrdering)
    WG_IS(cudaDevAttrMemoryPoolSupportedHandleTypes, p.memoryPoolSupportedHandleTypes)
    WG_IS(cudaDevAttrClusterLaunch, p.clusterLaunch)
    WG_IS(cudaDevAttrDeferredMappingCudaArraySupported, p.deferredMappingCudaArraySupported)
    WG_IS(cudaDevAttrIpcEventSupport, p.ipcEventSupported)
    WG_IS(cudaDevAttrNumaConfig, p.deviceNumaConfig)
    WG_IS(cudaDevAttrNumaId, p.deviceNumaId)
    WG_IS(cudaDevAttrMpsEnabled, p.mpsEnabled)
    WG_IS(cudaDevAttrHostNumaId, p.hostNumaId)
    WG_IS(cudaDevAttrGpuPciDeviceId, p.gpuPciDeviceID)
    WG_IS(cudaDevAttrGpuPciSubsystemId, p.gpuPciSubsystemID)
    WG_IS(cudaDevAttrHostNumaMultinodeIpcSupported, p.hostNumaMultinodeIpcSupported)
#undef WG_IS
    default:
      return false;
  }
}

}  // namespace

bool device_attribute(const GpuModel& model, int device, cudaDeviceAttr attribute, int& out) {
  cudaDeviceProp p;
  fill_properties(model, device, p);
  if (from_properties(p, attribute, out)) return true;
  switch (attribute) {
    case cudaDevAttrMemSyncDomainCount:
      out = model.cc_major >= 9 ? 4 : 1;
      return true;
    case cudaDevAttrKernelExecTimeout:
    case cudaDevAttrComputeMode:
    case cudaDevAttrReserved92:
    case cudaDevAttrReserved93:
    case cudaDevAttrReserved94:
    case cudaDevAttrReserved96:
    case cudaDevAttrCanFlushRemoteWrites:
    case cudaDevAttrReserved122:
    case cudaDevAttrReserved123:
    case cudaDevAttrReserved124:
    case cudaDevAttrReserved127:
    case cudaDevAttrReserved128:
    case cudaDevAttrReserved129:
    case cudaDevAttrReserved132:
    case cudaDevAttrD3D12CigSupported:
    case cudaDevAttrVulkanCigSupported:
    case cudaDevAttrReserved141:
    case cudaDevAttrHostNumaMemoryPoolsSupported:
    case cudaDevAttrHostMemoryPoolsSupported:
    case cudaDevAttrReserved145:
    case cudaDevAttrOnlyPartialHostNativeAtomicSupported:
      out = 0;
      return true;
    default:
      return false;
  }
}

}  // namespace warpgrind::semantics
