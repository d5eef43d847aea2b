// Occupancy functions of the driver API.
#include "driver/host_calls.h"
#include "semantics/kernels.h"

namespace warpgrind::driver {

namespace {

// Checks the arguments that all of these functions have.
CUresult check(CUfunction function, unsigned flags) {
  if (!semantics::is_kernel(function)) return CUDA_ERROR_INVALID_HANDLE;
  return flags & ~static_cast<unsigned>(CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE) ? CUDA_ERROR_INVALID_VALUE
                                                                               : CUDA_SUCCESS;
}

template <class Body>
CUresult ask(CUfunction function, unsigned flags, Body&& body, const char* call = __builtin_FUNCTION()) {
  return driver(
      [&]() -> CUresult {
        if (const CUresult error = check(function, flags); error != CUDA_SUCCESS) return error;
        return driver_error(body());
      },
      call);
}

cudaLaunchConfig_t config_of(const CUlaunchConfig& c) {
  cudaLaunchConfig_t out{};
  out.gridDim = {c.gridDimX, c.gridDimY, c.gridDimZ};
  out.blockDim = {c.blockDimX, c.blockDimY, c.blockDimZ};
  out.dynamicSmemBytes = c.sharedMemBytes;
  out.stream = c.hStream;
  out.attrs = as<cudaLaunchAttribute>(c.attrs);
  out.numAttrs = c.numAttrs;
  return out;
}

}  // namespace

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function, int block_size,
                                                              size_t shared, unsigned int flags) {
  return ask(function, flags, [&] {
    return semantics::occupancy_max_active_blocks_per_multiprocessor_with_flags(blocks, function, block_size, shared);
  });
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int block_size, size_t shared) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_size, shared, 0);
}
CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block_size, CUfunction function,
                                                   CUoccupancyB2DSize shared_of_block, size_t shared,
                                                   int block_size_limit, unsigned int flags) {
  return ask(function, flags, [&]() -> cudaError_t {
    if (!grid || !block_size || block_size_limit < 0) return cudaErrorInvalidValue;
    const auto shared_of = [&](int size) { return shared_of_block ? shared_of_block(size) : shared; };
    return semantics::most_occupying_block(grid, block_size, function, shared_of, block_size_limit);
  });
}
CUresult cuOccupancyMaxPotentialBlockSize(int* grid, int* block_size, CUfunction function,
                                          CUoccupancyB2DSize shared_of_block, size_t shared, int block_size_limit) {
  return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block_size, function, shared_of_block, shared,
                                                   block_size_limit, 0);
}
CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t* shared, CUfunction function, int blocks, int block_size) {
  return ask(function, 0, [&] { return semantics::available_shared(shared, function, blocks, block_size); });
}
CUresult cuOccupancyMaxPotentialClusterSize(int* cluster_size, CUfunction function, const CUlaunchConfig* config) {
  return ask(function, 0, [&]() -> cudaError_t {
    if (!config) return cudaErrorInvalidValue;
    const cudaLaunchConfig_t same = config_of(*config);
    return semantics::occupancy_max_potential_cluster_size(cluster_size, function, &same);
  });
}
CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction function, const CUlaunchConfig* config) {
  return ask(function, 0, [&]() -> cudaError_t {
    if (!config) return cudaErrorInvalidValue;
    const cudaLaunchConfig_t same = config_of(*config);
    return semantics::occupancy_max_active_clusters(clusters, function, &same);
  });
}

}  // namespace warpgrind::driver
