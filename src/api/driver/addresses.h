// Conversions between CUdeviceptr and pointers, and the owners of device memory. A CUdeviceptr is a host address as a
// number (device/memory/address_space.h).
#pragma once

#include "driver/driver.h"
#include "semantics/operation.h"

namespace warpgrind::driver {

inline void* pointer(CUdeviceptr address) {
  return reinterpret_cast<void*>(address);
}
inline CUdeviceptr address(const void* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

// Memory locations have the same numbers in both APIs.
static_assert(sizeof(CUmemLocation) == sizeof(cudaMemLocation));
inline cudaMemLocation location_of(const CUmemLocation& location) {
  return {static_cast<cudaMemLocationType>(location.type), location.id};
}
// CU_DEVICE_CPU means the host.
inline cudaMemLocation location_of(CUdevice device) {
  return device == CU_DEVICE_CPU ? cudaMemLocation{cudaMemLocationTypeHost, 0}
                                 : cudaMemLocation{cudaMemLocationTypeDevice, device};
}

// Completes an allocation: stores its address in `out` and records the current context as its owner. Returns `error` if
// the allocation failed.
CUresult allocated(cudaError_t error, void* memory, CUdeviceptr* out);
// Forgets the owner of an allocation. Call it before the memory is freed.
void forget_owner(const void* memory);
// Frees all memory that the context owns, when the context is destroyed.
void free_memory_of(const Context& context);

}  // namespace warpgrind::driver
