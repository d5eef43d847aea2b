// Selection of devices, their limits and flags, and peer access.
#include "semantics/devices.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <type_traits>

#include "gpu/launch_limits.h"
#include "semantics/device_properties.h"
#include "semantics/executor.h"
#include "semantics/operation.h"
#include "semantics/state.h"

namespace warpgrind::semantics {

namespace {
constexpr int kVersion = 13000;  // version of the emulated driver and runtime
}

cudaError_t driver_get_version(int* version) {
  if (!version) return cudaErrorInvalidValue;
  *version = kVersion;
  return cudaSuccess;
}

cudaError_t get_device_count(int* count) {
  if (!count) return cudaErrorInvalidValue;
  *count = session::devices().count();
  session::activity().device_count_read();
  return cudaSuccess;
}

cudaError_t set_device(int device) {
  if (!valid_device(device)) return cudaErrorInvalidDevice;
  ThreadState& thread = thread_state();
  thread.device = device;
  ++thread.device_choices;
  thread.in_own_context = false;
  use_runtime();
  return cudaSuccess;
}

cudaError_t get_device(int* device) {
  if (!device) return cudaErrorInvalidValue;
  *device = thread_state().device;
  return cudaSuccess;
}

cudaError_t set_valid_devices(int* devices, int count) {
  if (count < 0 || (count && !devices)) return cudaErrorInvalidValue;
  for (int i = 0; i < count; i++)
    if (!valid_device(devices[i])) return cudaErrorInvalidDevice;
  return cudaSuccess;
}

cudaError_t get_device_properties(cudaDeviceProp* out, int device) {
  if (!out) return cudaErrorInvalidValue;
  if (!valid_device(device)) return cudaErrorInvalidDevice;
  fill_properties(session::model(), device, *out);
  return cudaSuccess;
}

cudaError_t device_get_attribute(int* value, cudaDeviceAttr attribute, int device) {
  if (!value) return cudaErrorInvalidValue;
  if (!valid_device(device)) return cudaErrorInvalidDevice;
  return device_attribute(session::model(), device, attribute, *value) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t choose_device(int* device, const cudaDeviceProp* properties) {
  if (!device || !properties) return cudaErrorInvalidValue;
  *device = 0;  // all virtual GPUs of a run have the same model
  return cudaSuccess;
}

cudaError_t set_device_flags(unsigned flags) {
  if (flags & ~0x1fu) return cudaErrorInvalidValue;
  current_context().flags = flags;
  return cudaSuccess;
}

cudaError_t get_device_flags(unsigned* flags) {
  if (!flags) return cudaErrorInvalidValue;
  *flags = current_context().flags | 0x8;  // mapped host memory is always possible
  return cudaSuccess;
}

namespace {

// From compute capability 9.0 on, kernels cannot wait for kernels that they launch, so that there is no depth to set.
bool is_limit(cudaLimit limit) {
  if (limit == cudaLimitDevRuntimeSyncDepth) return session::model().cc_major < 9;
  return limit >= 0 && limit <= cudaLimitPersistingL2CacheSize;
}

std::size_t most_persisting_l2() {
  int bytes = 0;
  device_attribute(session::model(), 0, cudaDevAttrMaxPersistingL2CacheSize, bytes);
  return static_cast<std::size_t>(bytes);
}

}  // namespace

void set_default_limits(Context& context) {
  const std::size_t limits[] = {kDefaultStackBytes, printf_fifo_bytes(session::model()), 8 << 20, 2, 2048, 128, 0};
  static_assert(std::size(limits) == std::extent_v<decltype(context.limits)>);
  std::copy(std::begin(limits), std::end(limits), context.limits);
}

cudaError_t device_set_limit(cudaLimit limit, std::size_t value) {
  if (!is_limit(limit)) return cudaErrorUnsupportedLimit;
  constexpr std::size_t kMostL2Fetch = 128;  // "Values can range from 0B to 128B"
  if (limit == cudaLimitMaxL2FetchGranularity && value > kMostL2Fetch)
    return refuse(cudaErrorInvalidValue,
                  fmt::format("a fetch granularity of {} bytes; the maximum is {}", value, kMostL2Fetch));
  if (limit == cudaLimitPersistingL2CacheSize && value > most_persisting_l2())
    return refuse(cudaErrorInvalidValue, "more than the L2 cache can set aside");
  device::Device& gpu = current_device();
  if (const std::uint64_t most = most_stack_bytes(session::model()); limit == cudaLimitStackSize && value > most)
    return refuse(cudaErrorInvalidValue,
                  fmt::format("a stack of {} bytes per thread; this GPU allows at most {}", value, most));
  if (limit == cudaLimitStackSize) gpu.set_stack_size(value);
  if (limit == cudaLimitMallocHeapSize && !gpu.set_heap_size(value))
    return refuse(cudaErrorInvalidValue, "the heap size cannot change after the first kernel that uses malloc");
  if (limit == cudaLimitPrintfFifoSize) gpu.set_printf_fifo(value);
  current_context().limits[limit] = value;
  return cudaSuccess;
}

cudaError_t device_get_limit(std::size_t* value, cudaLimit limit) {
  if (!value) return cudaErrorInvalidValue;
  if (!is_limit(limit)) return cudaErrorUnsupportedLimit;
  *value = current_context().limits[limit];
  return cudaSuccess;
}

cudaError_t device_set_cache_config(cudaFuncCache config) {
  if (config > cudaFuncCachePreferEqual) return cudaErrorInvalidValue;
  current_context().cache_config = config;
  return cudaSuccess;
}

cudaError_t device_get_cache_config(cudaFuncCache* config) {
  if (!config) return cudaErrorInvalidValue;
  *config = current_context().cache_config;
  return cudaSuccess;
}

cudaError_t device_set_shared_mem_config(cudaSharedMemConfig config) {
  if (config > cudaSharedMemBankSizeEightByte) return cudaErrorInvalidValue;
  if (config == cudaSharedMemBankSizeEightByte && session::model().cc_major == 3)
    session::messages().say_once(
        "cudaDeviceSetSharedMemConfig has no effect: bank conflicts are counted in the bank mode of the GPU model");
  return cudaSuccess;
}

cudaError_t device_get_shared_mem_config(cudaSharedMemConfig* config) {
  if (!config) return cudaErrorInvalidValue;
  *config = cudaSharedMemBankSizeFourByte;
  return cudaSuccess;
}

// The attribute holds the limit for the widest elements, of 16 bytes. Narrower elements have the same limit in bytes,
// but at most four times as many elements (an H200: 2^28, 2^29 and 2^30 for 16, 8 and 4 bytes, 2^30 for fewer).
cudaError_t device_get_texture_1d_linear_max_width(std::size_t* width, unsigned element, int device) {
  constexpr unsigned kWidest = 16, kMostTimes = 4;
  if (!width || element == 0 || element > kWidest) return cudaErrorInvalidValue;
  if (!valid_device(device)) return cudaErrorInvalidDevice;
  int widest = 0;
  device_attribute(session::model(), device, cudaDevAttrMaxTexture1DLinearWidth, widest);
  *width = static_cast<std::size_t>(widest) * std::min(kWidest / element, kMostTimes);
  return cudaSuccess;
}

cudaError_t device_get_pci_bus_id(char* out, int length, int device) {
  if (!out || length < 13) return cudaErrorInvalidValue;
  if (!valid_device(device)) return cudaErrorInvalidDevice;
  std::snprintf(out, static_cast<std::size_t>(length), "0000:%02X:00.0", device + 1);
  return cudaSuccess;
}

cudaError_t device_get_by_pci_bus_id(int* device, const char* id) {
  unsigned domain = 0, bus = 0;
  if (!device || !id || std::sscanf(id, "%x:%x", &domain, &bus) != 2) return cudaErrorInvalidValue;
  if (domain != 0 || !valid_device(static_cast<int>(bus) - 1)) return cudaErrorInvalidDevice;
  *device = static_cast<int>(bus) - 1;
  return cudaSuccess;
}

cudaError_t device_can_access_peer(int* can, int device, int peer) {
  if (!can) return cudaErrorInvalidValue;
  if (!valid_device(device) || !valid_device(peer)) return cudaErrorInvalidDevice;
  *can = device != peer;
  return cudaSuccess;
}

cudaError_t device_enable_peer_access(int peer, unsigned flags) {
  if (flags) return cudaErrorInvalidValue;
  if (!valid_device(peer) || peer == thread_state().device) return cudaErrorInvalidDevice;
  Context& c = current_context();
  const std::lock_guard lock(c.peers_mutex);
  return c.peers.insert(peer).second ? cudaSuccess : cudaErrorPeerAccessAlreadyEnabled;
}

cudaError_t device_disable_peer_access(int peer) {
  if (!valid_device(peer)) return cudaErrorInvalidDevice;
  Context& c = current_context();
  const std::lock_guard lock(c.peers_mutex);
  return c.peers.erase(peer) ? cudaSuccess : cudaErrorPeerAccessNotEnabled;
}

cudaError_t device_get_p2p_attribute(int* value, cudaDeviceP2PAttr attribute, int from, int to) {
  if (!value || attribute < cudaDevP2PAttrPerformanceRank || attribute > cudaDevP2PAttrOnlyPartialNativeAtomicSupported)
    return cudaErrorInvalidValue;
  if (!valid_device(from) || !valid_device(to) || from == to) return cudaErrorInvalidDevice;
  *value = attribute != cudaDevP2PAttrPerformanceRank && attribute != cudaDevP2PAttrOnlyPartialNativeAtomicSupported;
  return cudaSuccess;
}

}  // namespace warpgrind::semantics
