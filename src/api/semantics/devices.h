// Device management: selection, queries, limits, peer access.
#pragma once

#include <cstddef>

#include "semantics/types.h"

namespace warpgrind::semantics {

// ---- The runtime API's functions of the same names.
cudaError_t driver_get_version(int* version);
cudaError_t get_device_count(int* count);
cudaError_t set_device(int device);
cudaError_t get_device(int* device);
cudaError_t set_valid_devices(int* devices, int count);
cudaError_t get_device_properties(cudaDeviceProp* out, int device);
cudaError_t device_get_attribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t choose_device(int* device, const cudaDeviceProp* properties);
cudaError_t set_device_flags(unsigned flags);
cudaError_t get_device_flags(unsigned* flags);
cudaError_t device_set_limit(cudaLimit limit, std::size_t value);
cudaError_t device_get_limit(std::size_t* value, cudaLimit limit);
cudaError_t device_set_cache_config(cudaFuncCache config);
cudaError_t device_get_cache_config(cudaFuncCache* config);
cudaError_t device_set_shared_mem_config(cudaSharedMemConfig config);
cudaError_t device_get_shared_mem_config(cudaSharedMemConfig* config);
// element: bytes of an element.
cudaError_t device_get_texture_1d_linear_max_width(std::size_t* width, unsigned element, int device);
cudaError_t device_get_pci_bus_id(char* out, int length, int device);
cudaError_t device_get_by_pci_bus_id(int* device, const char* id);
cudaError_t device_can_access_peer(int* can, int device, int peer);
cudaError_t device_enable_peer_access(int peer, unsigned flags);
cudaError_t device_disable_peer_access(int peer);
cudaError_t device_get_p2p_attribute(int* value, cudaDeviceP2PAttr attribute, int from, int to);

}  // namespace warpgrind::semantics
