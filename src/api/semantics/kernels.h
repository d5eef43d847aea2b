// Attributes and occupancy of kernels. `function`: an argument of find_kernel().
#pragma once

#include <functional>

#include "gpu/occupancy.h"
#include "semantics/operation.h"

namespace warpgrind::semantics {

cudaError_t attributes_of(cudaFuncAttributes& out, const void* function);
cudaError_t set_attribute(const void* function, cudaFuncAttribute attribute, int value);
cudaError_t set_cache_config(const void* function, cudaFuncCache config);
cudaError_t parameter_info(const void* function, std::size_t index, std::size_t* offset, std::size_t* size);
cudaError_t occupancy_of(const void* function, int block_size, std::size_t dynamic_shared, Occupancy& out);
// The largest dynamic shared memory, in bytes, with which `blocks` blocks still fit on one SM.
cudaError_t available_shared(std::size_t* bytes, const void* function, int blocks, int block_size);

// block_size: the number of threads per block with most resident threads on an SM, at most `limit` (0: any). grid: the
// number of such blocks that fill the GPU. shared_of: dynamic shared memory in bytes of a block of so many threads.
cudaError_t most_occupying_block(int* grid, int* block_size, const void* function,
                                 const std::function<std::size_t(int)>& shared_of, int limit);

// ---- The runtime API's functions of the same names.
cudaError_t func_get_attributes(cudaFuncAttributes* out, const void* function);
cudaError_t kernel_set_attribute_for_device(cudaKernel_t kernel, cudaFuncAttribute attribute, int value, int device);
cudaError_t func_get_name(const char** name, const void* function);
cudaError_t occupancy_max_active_blocks_per_multiprocessor_with_flags(int* blocks, const void* function, int block_size,
                                                                      std::size_t dynamic_shared);
cudaError_t occupancy_max_potential_cluster_size(int* size, const void* function, const cudaLaunchConfig_t* config);
cudaError_t occupancy_max_active_clusters(int* clusters, const void* function, const cudaLaunchConfig_t* config);

}  // namespace warpgrind::semantics
