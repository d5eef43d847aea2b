// What a GPU model looks like to a program. Figures that no model has (texture limits, ids) are the same for all GPUs
// of a compute capability: CUDA C++ Programming Guide, appendix "Compute Capabilities", table of technical
// specifications.
#include "cudart/device_properties.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace warpgrind::cudart {

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
  std::snprintf(p.uuid, sizeof p.uuid, "warpgrind%d", device);
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
  p.memoryPoolsSupported = m.cc_major >= 6;
  p.unifiedFunctionPointers = 0;
  p.deviceNumaId = -1;
  p.hostNumaId = -1;
  p.clusterLaunch = m.cc_major >= 9;
}

namespace {

// Attributes that are a field of the properties, by their documented number (cudaDeviceAttr).
bool from_properties(const cudaDeviceProp& p, int attribute, int& out) {
  switch (attribute) {
#define WG_IS(number, value)       \
  case number:                     \
    out = static_cast<int>(value); \
    return true;
    WG_IS(1, p.maxThreadsPerBlock)
    WG_IS(2, p.maxThreadsDim[0])
    WG_IS(3, p.maxThreadsDim[1])
    WG_IS(4, p.maxThreadsDim[2])
    WG_IS(5, p.maxGridSize[0])
    WG_IS(6, p.maxGridSize[1])
    WG_IS(7, p.maxGridSize[2])
    WG_IS(8, p.sharedMemPerBlock)
    WG_IS(9, p.totalConstMem)
    WG_IS(10, p.warpSize)
    WG_IS(11, p.memPitch)
    WG_IS(12, p.regsPerBlock)
    WG_IS(14, p.textureAlignment)
    WG_IS(15, p.asyncEngineCount > 0)
    WG_IS(16, p.multiProcessorCount)
    WG_IS(18, p.integrated)
    WG_IS(19, p.canMapHostMemory)
    WG_IS(21, p.maxTexture1D)
    WG_IS(22, p.maxTexture2D[0])
    WG_IS(23, p.maxTexture2D[1])
    WG_IS(24, p.maxTexture3D[0])
    WG_IS(25, p.maxTexture3D[1])
    WG_IS(26, p.maxTexture3D[2])
    WG_IS(27, p.maxTexture2DLayered[0])
    WG_IS(28, p.maxTexture2DLayered[1])
    WG_IS(29, p.maxTexture2DLayered[2])
    WG_IS(30, p.surfaceAlignment)
    WG_IS(31, p.concurrentKernels)
    WG_IS(32, p.ECCEnabled)
    WG_IS(33, p.pciBusID)
    WG_IS(34, p.pciDeviceID)
    WG_IS(35, p.tccDriver)
    WG_IS(37, p.memoryBusWidth)
    WG_IS(38, p.l2CacheSize)
    WG_IS(39, p.maxThreadsPerMultiProcessor)
    WG_IS(40, p.asyncEngineCount)
    WG_IS(41, p.unifiedAddressing)
    WG_IS(42, p.maxTexture1DLayered[0])
    WG_IS(43, p.maxTexture1DLayered[1])
    WG_IS(45, p.maxTexture2DGather[0])
    WG_IS(46, p.maxTexture2DGather[1])
    WG_IS(47, p.maxTexture3DAlt[0])
    WG_IS(48, p.maxTexture3DAlt[1])
    WG_IS(49, p.maxTexture3DAlt[2])
    WG_IS(50, p.pciDomainID)
    WG_IS(51, p.texturePitchAlignment)
    WG_IS(52, p.maxTextureCubemap)
    WG_IS(53, p.maxTextureCubemapLayered[0])
    WG_IS(54, p.maxTextureCubemapLayered[1])
    WG_IS(55, p.maxSurface1D)
    WG_IS(56, p.maxSurface2D[0])
    WG_IS(57, p.maxSurface2D[1])
    WG_IS(58, p.maxSurface3D[0])
    WG_IS(59, p.maxSurface3D[1])
    WG_IS(60, p.maxSurface3D[2])
    WG_IS(61, p.maxSurface1DLayered[0])
    WG_IS(62, p.maxSurface1DLayered[1])
    WG_IS(63, p.maxSurface2DLayered[0])
    WG_IS(64, p.maxSurface2DLayered[1])
    WG_IS(65, p.maxSurface2DLayered[2])
    WG_IS(66, p.maxSurfaceCubemap)
    WG_IS(67, p.maxSurfaceCubemapLayered[0])
    WG_IS(68, p.maxSurfaceCubemapLayered[1])
    WG_IS(70, p.maxTexture2DLinear[0])
    WG_IS(71, p.maxTexture2DLinear[1])
    WG_IS(72, p.maxTexture2DLinear[2])
    WG_IS(73, p.maxTexture2DMipmap[0])
    WG_IS(74, p.maxTexture2DMipmap[1])
    WG_IS(75, p.major)
    WG_IS(76, p.minor)
    WG_IS(77, p.maxTexture1DMipmap)
    WG_IS(78, p.streamPrioritiesSupported)
    WG_IS(79, p.globalL1CacheSupported)
    WG_IS(80, p.localL1CacheSupported)
    WG_IS(81, p.sharedMemPerMultiprocessor)
    WG_IS(82, p.regsPerMultiprocessor)
    WG_IS(83, p.managedMemory)
    WG_IS(84, p.isMultiGpuBoard)
    WG_IS(85, p.multiGpuBoardGroupID)
    WG_IS(86, p.hostNativeAtomicSupported)
    WG_IS(88, p.pageableMemoryAccess)
    WG_IS(89, p.concurrentManagedAccess)
    WG_IS(90, p.computePreemptionSupported)
    WG_IS(91, p.canUseHostPointerForRegisteredMem)
    WG_IS(95, p.cooperativeLaunch)
    WG_IS(97, p.sharedMemPerBlockOptin)
    WG_IS(99, p.hostRegisterSupported)
    WG_IS(100, p.pageableMemoryAccessUsesHostPageTables)
    WG_IS(101, p.directManagedMemAccessFromHost)
    WG_IS(106, p.maxBlocksPerMultiProcessor)
    WG_IS(108, p.persistingL2CacheMaxSize)
    WG_IS(109, p.accessPolicyMaxWindowSize)
    WG_IS(111, p.reservedSharedMemPerBlock)
    WG_IS(112, p.sparseCudaArraySupported)
    WG_IS(113, p.hostRegisterReadOnlySupported)
    WG_IS(114, p.timelineSemaphoreInteropSupported)
    WG_IS(115, p.memoryPoolsSupported)
    WG_IS(116, p.gpuDirectRDMASupported)
    WG_IS(117, p.gpuDirectRDMAFlushWritesOptions)
    WG_IS(118, p.gpuDirectRDMAWritesOrdering)
    WG_IS(119, p.memoryPoolSupportedHandleTypes)
    WG_IS(120, p.clusterLaunch)
    WG_IS(121, p.deferredMappingCudaArraySupported)
    WG_IS(125, p.ipcEventSupported)
    WG_IS(130, p.deviceNumaConfig)
    WG_IS(131, p.deviceNumaId)
    WG_IS(133, p.mpsEnabled)
    WG_IS(134, p.hostNumaId)
    WG_IS(139, p.gpuPciDeviceID)
    WG_IS(140, p.gpuPciSubsystemID)
    WG_IS(143, p.hostNumaMultinodeIpcSupported)
#undef WG_IS
  }
  return false;
}

}  // namespace

bool device_attribute(const GpuModel& model, int device, int attribute, int& out) {
  cudaDeviceProp p;
  fill_properties(model, device, p);
  if (from_properties(p, attribute, out)) return true;
  switch (attribute) {
    case 13:  // clock rate, kHz
      out = static_cast<int>(model.sm_clock_mhz * 1000);
      return true;
    case 36:  // memory clock rate, kHz
      out = static_cast<int>(model.memory_clock_mhz * 1000);
      return true;
    case 69:  // 1D texture on linear memory, elements
      out = limits_of(model).d1_linear;
      return true;
    case 87:  // single to double precision rate
      out = model.cores_fp64_per_sm ? static_cast<int>(model.cores_fp32_per_sm / model.cores_fp64_per_sm) : 0;
      return true;
    case 126:  // memory synchronisation domains
      out = model.cc_major >= 9 ? 4 : 1;
      return true;
    case 17:  // kernel execution timeout
    case 20:  // compute mode: default
    case 92:  // reserved ones
    case 93:
    case 94:
    case 96:
    case 98:  // flush remote writes
    case 122:
    case 123:
    case 124:
    case 127:
    case 128:
    case 129:
    case 132:
    case 135:
    case 138:
    case 141:
    case 142:  // host memory pools
    case 144:
    case 145:
    case 147:
      out = 0;
      return true;
  }
  return false;
}

}  // namespace warpgrind::cudart
