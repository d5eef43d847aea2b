// Kernel functions of the runtime API: attributes, occupancy, parameters.
#include <algorithm>

#include "gpu/occupancy.h"
#include "runtime/call.h"
#include "semantics/kernels.h"
#include "semantics/operation.h"

namespace warpgrind::runtime {

extern "C" {

WG_API cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* out, const void* function) {
  return api([&] { return func_get_attributes(out, function); });
}
WG_API cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  return api([&] { return set_attribute(function, attribute, value); });
}
WG_API cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attribute, int value,
                                                   int device) {
  return api([&] { return kernel_set_attribute_for_device(kernel, attribute, value, device); });
}
WG_API cudaError_t cudaFuncSetCacheConfig(const void* function, cudaFuncCache config) {
  return api([&] { return set_cache_config(function, config); });
}
WG_API cudaError_t cudaFuncSetSharedMemConfig(const void* function, cudaSharedMemConfig) {
  return api([&] { return find_kernel(function) ? cudaSuccess : cudaErrorInvalidDeviceFunction; });
}
WG_API cudaError_t cudaFuncGetName(const char** name, const void* function) {
  return api([&] { return func_get_name(name, function); });
}
WG_API cudaError_t cudaFuncGetParamInfo(const void* function, std::size_t index, std::size_t* offset,
                                        std::size_t* size) {
  return api([&] { return parameter_info(function, index, offset, size); });
}

WG_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function,
                                                                          int block_size, std::size_t dynamic_shared,
                                                                          unsigned) {
  return api([&] {
    return occupancy_max_active_blocks_per_multiprocessor_with_flags(blocks, function, block_size, dynamic_shared);
  });
}
WG_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int block_size,
                                                                 std::size_t dynamic_shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_size, dynamic_shared, 0);
}

// Largest dynamic shared memory, in bytes, with which `blocks` blocks still fit on one SM.
WG_API cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* function, int blocks,
                                                             int block_size) {
  return api([&] { return available_shared(bytes, function, blocks, block_size); });
}

WG_API cudaError_t cudaOccupancyMaxPotentialClusterSize(int* size, const void* function,
                                                        const cudaLaunchConfig_t* config) {
  return api([&] { return occupancy_max_potential_cluster_size(size, function, config); });
}
WG_API cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* function,
                                                  const cudaLaunchConfig_t* config) {
  return api([&] { return occupancy_max_active_clusters(clusters, function, config); });
}

}  // extern "C"

}  // namespace warpgrind::runtime
