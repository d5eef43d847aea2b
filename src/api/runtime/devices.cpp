// Device management of the runtime API: selection, queries, limits, peers, reset.
#include "semantics/devices.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "runtime/call.h"
#include "semantics/device_properties.h"
#include "semantics/executor.h"
#include "semantics/memory.h"
#include "semantics/operation.h"
#include "semantics/streams.h"

namespace warpgrind::runtime {

extern "C" {

WG_API cudaError_t cudaDriverGetVersion(int* version) {
  return api_without_context([&] { return driver_get_version(version); });
}
WG_API cudaError_t cudaRuntimeGetVersion(int* version) {
  return cudaDriverGetVersion(version);
}

WG_API cudaError_t cudaGetDeviceCount(int* count) {
  return api_without_context([&] { return get_device_count(count); });
}

WG_API cudaError_t cudaSetDevice(int device) {
  return api_without_context([&] { return set_device(device); });
}
WG_API cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  return api_without_context([&] { return valid_device(device) ? cudaSuccess : cudaErrorInvalidDevice; });
}
WG_API cudaError_t cudaGetDevice(int* device) {
  return api_without_context([&] { return get_device(device); });
}
WG_API cudaError_t cudaSetValidDevices(int* devices, int count) {
  return api_without_context([&] { return set_valid_devices(devices, count); });
}

WG_API cudaError_t cudaGetDeviceProperties(cudaDeviceProp* out, int device) {
  return api_without_context([&] { return get_device_properties(out, device); });
}

WG_API cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return api_without_context([&] { return device_get_attribute(value, attribute, device); });
}

WG_API cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* properties) {
  return api_without_context([&] { return choose_device(device, properties); });
}

WG_API cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return api_without_context([&] { return set_device_flags(flags); });
}
WG_API cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return api_without_context([&] { return get_device_flags(flags); });
}

WG_API cudaError_t cudaDeviceSynchronize() {
  return api([]() -> cudaError_t {
    const int device = thread_state().device;
    if (cudaError_t error = no_captures(device)) return error;
    return synchronize_device(device);
  });
}

WG_API cudaError_t cudaDeviceReset() {
  return api_without_context([]() -> cudaError_t {
    int device = thread_state().device;
    synchronize_device(device);
    Executor::instance().settle();
    session::Devices& gpus = session::devices();
    if (gpus.in_use(device)) {
      release_all(device);
      release_arrays(device);
      session::handles().all_destroyed();
      session::programs().unload(gpus[device]);
    }
    Context& c = current_context();
    c.fault = c.sticky = c.refused_launch = cudaSuccess;
    c.survived = false;
    if (gpus.in_use(device)) gpus[device].abandon_launches(false);
    {
      const std::lock_guard lock(c.peers_mutex);
      c.peers.clear();
    }
    const Context fresh;
    c.flags = fresh.flags.load();
    c.cache_config = fresh.cache_config.load();
    set_default_limits(c);
    c.used = c.retained = false;
    if (gpus.in_use(device)) {
      gpus[device].set_stack_size(c.limits[cudaLimitStackSize]);
      gpus[device].set_printf_fifo(c.limits[cudaLimitPrintfFifoSize]);
    }
    thread_state().last_error = cudaSuccess;
    return cudaSuccess;
  });
}

WG_API cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  return api([&] { return device_set_limit(limit, value); });
}
WG_API cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  return api([&] { return device_get_limit(value, limit); });
}

// Split of an SM's memory between L1 cache and shared memory, on GPUs that share it (preferred_carveout_percent).
WG_API cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
  return api([&] { return device_set_cache_config(config); });
}
WG_API cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  return api([&] { return device_get_cache_config(config); });
}
WG_API cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config) {
  return api([&] { return device_set_shared_mem_config(config); });
}
WG_API cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  return api([&] { return device_get_shared_mem_config(config); });
}
WG_API cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(std::size_t* width, const cudaChannelFormatDesc* format,
                                                        int device) {
  return api([&] {
    if (!format) return cudaErrorInvalidValue;
    const int bits = format->x + format->y + format->z + format->w;
    return device_get_texture_1d_linear_max_width(width, static_cast<unsigned>(bits / 8), device);
  });
}

WG_API cudaError_t cudaDeviceGetPCIBusId(char* out, int length, int device) {
  return api_without_context([&] { return device_get_pci_bus_id(out, length, device); });
}
WG_API cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* id) {
  return api_without_context([&] { return device_get_by_pci_bus_id(device, id); });
}

// ---- Peers. Every virtual GPU can access the memory of all others, but programs must enable that first, as on
// hardware.
WG_API cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return api_without_context([&] { return device_can_access_peer(can, device, peer); });
}
WG_API cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return api([&] { return device_enable_peer_access(peer, flags); });
}
WG_API cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return api([&] { return device_disable_peer_access(peer); });
}
WG_API cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int from, int to) {
  return api_without_context([&] { return device_get_p2p_attribute(value, attribute, from, to); });
}

WG_API cudaError_t cudaProfilerStart() {
  return api([] { return cudaSuccess; });
}
WG_API cudaError_t cudaProfilerStop() {
  return api([] { return cudaSuccess; });
}

}  // extern "C"

}  // namespace warpgrind::runtime
