// Device addresses are host addresses here (device/memory/address_space.h), and a CUdeviceptr is one as a number.
#pragma once

#include "cuda/driver.h"
#include "host/operation.h"

namespace warpgrind::cuda {

inline void* pointer(CUdeviceptr address) {
  return reinterpret_cast<void*>(address);
}
inline CUdeviceptr address(const void* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

// Both APIs have places of memory, with the same numbers.
static_assert(sizeof(CUmemLocation) == sizeof(cudaMemLocation));
inline cudaMemLocation location_of(const CUmemLocation& location) {
  return {static_cast<cudaMemLocationType>(location.type), location.id};
}
// CU_DEVICE_CPU is the host.
inline cudaMemLocation location_of(CUdevice device) {
  return device == CU_DEVICE_CPU ? cudaMemLocation{cudaMemLocationTypeHost, 0}
                                 : cudaMemLocation{cudaMemLocationTypeDevice, device};
}

// What an allocation of the calling thread ended with: its address, and the current context owns it.
CUresult allocated(cudaError_t error, void* memory, CUdeviceptr* out);
// Before it is freed.
void forget_owner(const void* memory);
// What it owns is freed, as it is destroyed.
void free_memory_of(const Context& context);

}  // namespace warpgrind::cuda
