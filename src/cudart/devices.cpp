// Device management: choosing, asking, limits, peers, reset.
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "cudart/device_properties.h"
#include "cudart/executor.h"
#include "cudart/operation.h"
#include "cudart/runtime.h"

namespace warpgrind::cudart {

namespace {
constexpr int kVersion = 13000;  // of the driver and the runtime that this library stands for
}

extern "C" {

WG_API cudaError_t cudaDriverGetVersion(int* version) {
  return api_without_context([&]() -> cudaError_t {
    if (!version) return cudaErrorInvalidValue;
    *version = kVersion;
    return cudaSuccess;
  });
}
WG_API cudaError_t cudaRuntimeGetVersion(int* version) {
  return cudaDriverGetVersion(version);
}

WG_API cudaError_t cudaGetDeviceCount(int* count) {
  return api_without_context([&]() -> cudaError_t {
    if (!count) return cudaErrorInvalidValue;
    *count = the_session().device_count();
    return cudaSuccess;
  });
}

WG_API cudaError_t cudaSetDevice(int device) {
  return api_without_context([&]() -> cudaError_t {
    if (!valid_device(device)) return cudaErrorInvalidDevice;
    thread_state().device = device;
    return cudaSuccess;
  });
}
WG_API cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  return api_without_context([&] { return valid_device(device) ? cudaSuccess : cudaErrorInvalidDevice; });
}
WG_API cudaError_t cudaGetDevice(int* device) {
  return api_without_context([&]() -> cudaError_t {
    if (!device) return cudaErrorInvalidValue;
    *device = thread_state().device;
    return cudaSuccess;
  });
}
WG_API cudaError_t cudaSetValidDevices(int* devices, int count) {
  return api_without_context([&]() -> cudaError_t {
    if (count < 0 || (count && !devices)) return cudaErrorInvalidValue;
    for (int i = 0; i < count; i++)
      if (!valid_device(devices[i])) return cudaErrorInvalidDevice;
    return cudaSuccess;
  });
}

WG_API cudaError_t cudaGetDeviceProperties(cudaDeviceProp* out, int device) {
  return api_without_context([&]() -> cudaError_t {
    if (!out) return cudaErrorInvalidValue;
    if (!valid_device(device)) return cudaErrorInvalidDevice;
    fill_properties(the_session().model(), device, *out);
    return cudaSuccess;
  });
}

WG_API cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return api_without_context([&]() -> cudaError_t {
    if (!value) return cudaErrorInvalidValue;
    if (!valid_device(device)) return cudaErrorInvalidDevice;
    return device_attribute(the_session().model(), device, attribute, *value) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

WG_API cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* properties) {
  return api_without_context([&]() -> cudaError_t {
    if (!device || !properties) return cudaErrorInvalidValue;
    *device = 0;  // all virtual GPUs of a run are of one model
    return cudaSuccess;
  });
}

WG_API cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return api_without_context([&]() -> cudaError_t {
    if (flags & ~0x1fu) return cudaErrorInvalidValue;
    current_context().flags = flags;
    return cudaSuccess;
  });
}
WG_API cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return api_without_context([&]() -> cudaError_t {
    if (!flags) return cudaErrorInvalidValue;
    *flags = current_context().flags | 0x8;  // mapped host memory is always possible
    return cudaSuccess;
  });
}

WG_API cudaError_t cudaDeviceSynchronize() {
  return api([]() -> cudaError_t { return synchronize_device(thread_state().device); });
}

WG_API cudaError_t cudaDeviceReset() {
  return api_without_context([]() -> cudaError_t {
    int device = thread_state().device;
    synchronize_device(device);
    Executor::instance().settle();
    session::Session& s = the_session();
    if (s.device_in_use(device)) {
      release_all(device);
      release_arrays(device);
      s.all_handles_destroyed();
      s.unload_programs(device);
    }
    Context& c = current_context();
    c.fault = c.sticky = cudaSuccess;
    c.survived = false;
    if (s.device_in_use(device)) s.device(device).abandon_launches(false);
    {
      const std::lock_guard lock(c.peers_mutex);
      c.peers.clear();
    }
    const Context fresh;
    c.flags = fresh.flags.load();
    c.cache_config = fresh.cache_config.load();
    for (std::size_t i = 0; i < std::size(c.limits); i++) c.limits[i] = fresh.limits[i].load();
    if (s.device_in_use(device)) s.device(device).set_stack_size(0);
    thread_state().last_error = cudaSuccess;
    return cudaSuccess;
  });
}

WG_API cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  return api([&]() -> cudaError_t {
    if (limit < 0 || limit > cudaLimitPersistingL2CacheSize) return cudaErrorUnsupportedLimit;
    device::Device& gpu = current_device();
    constexpr std::size_t kMostLocal = 512 << 10;  // "Maximum amount of local memory per thread", all GPUs since 2.0
    if (limit == cudaLimitStackSize && value > kMostLocal)
      return refuse(cudaErrorInvalidValue, fmt::format("a stack of {} bytes a thread, at most {}", value, kMostLocal));
    if (limit == cudaLimitStackSize) gpu.set_stack_size(value);
    if (limit == cudaLimitMallocHeapSize && !gpu.set_heap_size(value))
      return refuse(cudaErrorInvalidValue, "a kernel that uses malloc has run: the heap has its size");
    if (limit == cudaLimitPrintfFifoSize) gpu.set_printf_fifo(value);
    current_context().limits[limit] = value;
    return cudaSuccess;
  });
}
WG_API cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  return api([&]() -> cudaError_t {
    if (!value) return cudaErrorInvalidValue;
    if (limit < 0 || limit > cudaLimitPersistingL2CacheSize) return cudaErrorUnsupportedLimit;
    *value = current_context().limits[limit];
    return cudaSuccess;
  });
}

// How L1 and shared memory share an SM's memory where they do (preferred_carveout_percent).
WG_API cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
  return api([&]() -> cudaError_t {
    if (config > cudaFuncCachePreferEqual) return cudaErrorInvalidValue;
    current_context().cache_config = config;
    return cudaSuccess;
  });
}
WG_API cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  return api([&]() -> cudaError_t {
    if (!config) return cudaErrorInvalidValue;
    *config = current_context().cache_config;
    return cudaSuccess;
  });
}
WG_API cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config) {
  return api([&]() -> cudaError_t {
    if (config > cudaSharedMemBankSizeEightByte) return cudaErrorInvalidValue;
    if (config == cudaSharedMemBankSizeEightByte && the_session().model().cc_major == 3)
      the_session().say_once("cudaDeviceSetSharedMemConfig: bank conflicts are counted in the model's own bank mode");
    return cudaSuccess;
  });
}
WG_API cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  return api([&]() -> cudaError_t {
    if (!config) return cudaErrorInvalidValue;
    *config = cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
  });
}
WG_API cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(std::size_t* width, const cudaChannelFormatDesc*, int device) {
  return api([&]() -> cudaError_t {
    int value = 0;
    if (!width || !valid_device(device)) return cudaErrorInvalidValue;
    device_attribute(the_session().model(), device, cudaDevAttrMaxTexture1DLinearWidth, value);
    *width = static_cast<std::size_t>(value);
    return cudaSuccess;
  });
}

WG_API cudaError_t cudaDeviceGetPCIBusId(char* out, int length, int device) {
  return api_without_context([&]() -> cudaError_t {
    if (!out || length < 13) return cudaErrorInvalidValue;
    if (!valid_device(device)) return cudaErrorInvalidDevice;
    std::snprintf(out, static_cast<std::size_t>(length), "0000:%02X:00.0", device + 1);
    return cudaSuccess;
  });
}
WG_API cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* id) {
  return api_without_context([&]() -> cudaError_t {
    unsigned domain = 0, bus = 0;
    if (!device || !id || std::sscanf(id, "%x:%x", &domain, &bus) != 2) return cudaErrorInvalidValue;
    if (domain != 0 || !valid_device(static_cast<int>(bus) - 1)) return cudaErrorInvalidDevice;
    *device = static_cast<int>(bus) - 1;
    return cudaSuccess;
  });
}

// ---- Peers: every virtual GPU reaches the memory of all others, but programs must say so first, as on hardware.
WG_API cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return api_without_context([&]() -> cudaError_t {
    if (!can) return cudaErrorInvalidValue;
    if (!valid_device(device) || !valid_device(peer)) return cudaErrorInvalidDevice;
    *can = device != peer;
    return cudaSuccess;
  });
}
WG_API cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return api([&]() -> cudaError_t {
    if (flags) return cudaErrorInvalidValue;
    if (!valid_device(peer) || peer == thread_state().device) return cudaErrorInvalidDevice;
    Context& c = current_context();
    const std::lock_guard lock(c.peers_mutex);
    return c.peers.insert(peer).second ? cudaSuccess : cudaErrorPeerAccessAlreadyEnabled;
  });
}
WG_API cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return api([&]() -> cudaError_t {
    if (!valid_device(peer)) return cudaErrorInvalidDevice;
    Context& c = current_context();
    const std::lock_guard lock(c.peers_mutex);
    return c.peers.erase(peer) ? cudaSuccess : cudaErrorPeerAccessNotEnabled;
  });
}
WG_API cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int from, int to) {
  return api_without_context([&]() -> cudaError_t {
    if (!value || attribute < cudaDevP2PAttrPerformanceRank ||
        attribute > cudaDevP2PAttrOnlyPartialNativeAtomicSupported)
      return cudaErrorInvalidValue;
    if (!valid_device(from) || !valid_device(to) || from == to) return cudaErrorInvalidDevice;
    *value = attribute != cudaDevP2PAttrPerformanceRank && attribute != cudaDevP2PAttrOnlyPartialNativeAtomicSupported;
    return cudaSuccess;
  });
}

WG_API cudaError_t cudaProfilerStart() {
  return api([] { return cudaSuccess; });
}
WG_API cudaError_t cudaProfilerStop() {
  return api([] { return cudaSuccess; });
}

// There is no driver API behind this library (yet).
WG_API cudaError_t cudaGetDriverEntryPoint(const char*, void** function, unsigned long long,
                                           cudaDriverEntryPointQueryResult* status) {
  if (function) *function = nullptr;
  if (status) *status = cudaDriverEntryPointSymbolNotFound;
  return unsupported_call("cudaGetDriverEntryPoint");
}
WG_API cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned,
                                                    unsigned long long flags, cudaDriverEntryPointQueryResult* status) {
  return cudaGetDriverEntryPoint(name, function, flags, status);
}

}  // extern "C"

}  // namespace warpgrind::cudart
