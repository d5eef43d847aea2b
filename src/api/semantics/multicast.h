// Multicast objects: memory of several GPUs behind one range of addresses, for the instructions multimem.*. Their
// handles are released, mapped and given access by the functions of virtual_memory.h.
#pragma once

#include <cstdint>

#include "semantics/types.h"

namespace warpgrind::semantics {

bool has_multicast(int device);

// device_count: how many GPUs will be added. shareable: only shareable memory may be bound.
cudaError_t create_multicast(std::uint64_t* handle, std::size_t device_count, std::uint64_t size, bool shareable);
cudaError_t add_multicast_device(std::uint64_t handle, int device);
// Both wait until all GPUs have been added. The range must be free on the GPU of the memory.
cudaError_t bind_multicast_memory(std::uint64_t handle, std::uint64_t offset, std::uint64_t memory,
                                  std::uint64_t memory_offset, std::uint64_t size);
// `address`: in mapped memory, or in memory of a pool (cudaMallocAsync).
cudaError_t bind_multicast_address(std::uint64_t handle, std::uint64_t offset, std::uint64_t address,
                                   std::uint64_t size);
// The range must be one that was bound, after work that may still use it.
cudaError_t unbind_multicast(std::uint64_t handle, int device, std::uint64_t offset, std::uint64_t size);

}  // namespace warpgrind::semantics
