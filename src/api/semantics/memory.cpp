// Allocation of device, managed and host memory, and queries about pointers.
#include "semantics/memory.h"

#include <fmt/core.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/assert.h"
#include "device/memory/address_space.h"
#include "semantics/graph.h"
#include "semantics/operation.h"
#include "semantics/pools.h"
#include "semantics/shared_memory.h"
#include "semantics/state.h"
#include "semantics/streams.h"

namespace warpgrind::semantics {

namespace {

// Host memory known to the runtime: allocated by it, or registered.
struct HostBlock {
  std::size_t size = 0;
  unsigned flags = 0;
  bool registered = false;
};
std::mutex host_mutex;
std::map<std::uint64_t, HostBlock>& host_blocks() {
  static auto* blocks = new std::map<std::uint64_t, HostBlock>;
  return *blocks;
}

constexpr cudaMemLocation kNowhere{cudaMemLocationTypeInvalid, cudaInvalidDeviceId};

// Hints of cudaMemAdvise and cudaMemPrefetchAsync for a managed allocation, by its start.
struct Advice {
  bool read_mostly = false;
  cudaMemLocation preferred = kNowhere, prefetched = kNowhere;
  std::vector<int> accessed_by;
};
std::mutex advice_mutex;
std::map<std::uint64_t, Advice>& advices() {
  static auto* map = new std::map<std::uint64_t, Advice>;
  return *map;
}

void forget_advice(std::uint64_t address) {
  std::lock_guard lock(advice_mutex);
  advices().erase(address);
}

const HostBlock* find_host(const void* pointer) {
  auto& blocks = host_blocks();
  auto above = blocks.upper_bound(address_of(pointer));
  if (above == blocks.begin()) return nullptr;
  auto block = std::prev(above);
  if (address_of(pointer) >= block->first + block->second.size) return nullptr;
  return &block->second;
}

std::size_t whole_pages(std::size_t size) {
  return (size + 4095) & ~std::size_t{4095};
}

// True if a part of [low, high) is known already. Registering it again would hide the known block.
bool overlaps_host(std::uint64_t low, std::uint64_t high) {
  auto& blocks = host_blocks();
  auto above = blocks.lower_bound(high);
  if (above == blocks.begin()) return false;
  auto block = std::prev(above);
  return block->first + block->second.size > low;
}

// True if every page is mapped.
bool is_mapped(std::uint64_t low, std::uint64_t high) {
  const std::uint64_t first = low & ~std::uint64_t{4095};
  std::vector<unsigned char> pages(1 << 16);
  for (std::uint64_t at = first; at < high; at += pages.size() * 4096) {
    const std::uint64_t bytes = std::min<std::uint64_t>(high - at, pages.size() * 4096);
    if (::mincore(reinterpret_cast<void*>(at), bytes, pages.data()) != 0) return false;
  }
  return true;
}

}  // namespace

cudaError_t register_host(void* pointer, std::size_t size, unsigned flags) {
  constexpr unsigned kAll = 0xf;  // portable, mapped, I/O memory, read only
  if (!pointer || size == 0 || (flags & ~kAll)) return cudaErrorInvalidValue;
  if (!session::model().host_register) return cudaErrorNotSupported;
  const std::uint64_t low = address_of(pointer);
  std::uint64_t high = 0;
  if (__builtin_add_overflow(low, size, &high))
    return refuse(cudaErrorInvalidValue, "the size goes beyond the end of the address space");
  std::lock_guard lock(host_mutex);
  if (overlaps_host(low, high))
    return refuse(cudaErrorHostMemoryAlreadyRegistered, "a part of the range is registered or pinned already");
  if (device::AddressSpace::instance().overlapping(low, high))
    return refuse(cudaErrorInvalidValue, "device or managed memory cannot be registered");
  if (!is_mapped(low, high)) return refuse(cudaErrorInvalidValue, "a part of the range is not mapped memory");
  device::AddressSpace::instance().register_host(low, size);
  host_blocks()[low] = {size, flags, true};
  current_device().publish_allocation({events::Allocation::Kind::registered, thread_state().device, low, size});
  return cudaSuccess;
}

cudaError_t allocate_host(void** out, std::size_t size, unsigned flags) {
  if (!out) return cudaErrorInvalidValue;
  *out = nullptr;
  if (size == 0) return cudaSuccess;
  const std::size_t whole = whole_pages(size);
  if (whole < size) return refuse(cudaErrorMemoryAllocation, "the size is too large");
  void* memory = ::mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return cudaErrorMemoryAllocation;
  ::madvise(memory, whole, MADV_HUGEPAGE);  // fewer page faults; a host without large pages changes nothing
  device::AddressSpace::instance().register_host(address_of(memory), size);
  std::lock_guard lock(host_mutex);
  host_blocks()[address_of(memory)] = {size, flags, false};
  current_device().publish_allocation(
      {events::Allocation::Kind::host, thread_state().device, address_of(memory), size});
  *out = memory;
  return cudaSuccess;
}

cudaError_t free_host(void* pointer) {
  if (!pointer) return cudaSuccess;
  Executor::instance().wait_all();  // any device may still use it
  std::lock_guard lock(host_mutex);
  auto& blocks = host_blocks();
  auto block = blocks.find(address_of(pointer));
  if (block == blocks.end() || block->second.registered) return cudaErrorInvalidValue;
  device::AddressSpace::instance().unregister_host(block->first);
  current_device().publish_deallocation(
      {events::Allocation::Kind::host, thread_state().device, block->first, block->second.size});
  ::munmap(pointer, whole_pages(block->second.size));
  blocks.erase(block);
  return cudaSuccess;
}
// Rounds the width in bytes up to the texture alignment, as the driver does. False: the pitch overflows.
bool pitch_of(std::size_t width, std::size_t& pitch) {
  const std::size_t alignment = std::max<std::size_t>(session::model().texture_alignment, 1);
  if (__builtin_add_overflow(width, alignment - 1, &pitch)) return false;
  pitch = pitch / alignment * alignment;
  return true;
}

cudaError_t allocate_box(const cudaExtent& extent, void** out, std::size_t* pitch) {
  std::size_t bytes = 0;
  if (!pitch_of(extent.width, *pitch) || __builtin_mul_overflow(*pitch, extent.height, &bytes) ||
      __builtin_mul_overflow(bytes, extent.depth, &bytes))
    return refuse(cudaErrorInvalidValue, fmt::format("{} bytes x {} rows x {} slices are too many bytes", extent.width,
                                                     extent.height, extent.depth));
  return bytes ? allocate(thread_state().device, bytes, out) : cudaSuccess;
}

cudaError_t report_invalid_free(cudaError_t error, const void* pointer, const char* by) {
  if (error != cudaErrorInvalidValue || !current_device().wants().invalid_frees) return error;
  current_device().publish(events::InvalidFree{thread_state().device, address_of(pointer), by});
  return already_said(error);
}

// Allocations of the program that it has not freed, with their device. cudaDeviceReset frees them.
namespace {

std::mutex live_allocations_mutex;
std::map<std::uint64_t, int>& live_allocations() {
  static auto* map = new std::map<std::uint64_t, int>;
  return *map;
}

}  // namespace

cudaError_t allocate(int device, std::size_t bytes, void** out, events::Allocation::Kind kind, int file) {
  constexpr std::uint64_t kAlignment = 512;
  device::Device& gpu = session::devices()[device];
  const bool managed = kind == events::Allocation::Kind::managed;
  Result<std::uint64_t> address = managed ? gpu.allocate_managed(bytes) : gpu.allocate(bytes, kAlignment, kind, file);
  if (!address) {
    gpu.publish(events::FailedAllocation{device, bytes});
    return refuse(cudaErrorMemoryAllocation, address.error().message);
  }
  *out = reinterpret_cast<void*>(*address);
  std::lock_guard lock(live_allocations_mutex);
  const bool is_new = live_allocations().emplace(*address, device).second;
  WG_ASSERT(is_new);  // release() and release_all() forget an address before the device may give it out again
  return cudaSuccess;
}

bool is_allocated(const void* start) {
  const std::lock_guard lock(live_allocations_mutex);
  return live_allocations().contains(address_of(start));
}

void release_all(int device) {
  release_imports(device);
  std::lock_guard lock(live_allocations_mutex);
  for (auto it = live_allocations().begin(); it != live_allocations().end();) {
    if (it->second == device) {
      forget_advice(it->first);
      session::managed_memory().forget(it->first);
      forget_pool_block(reinterpret_cast<void*>(it->first));
      session::devices()[device].free(it->first);
      it = live_allocations().erase(it);
    } else {
      ++it;
    }
  }
}

cudaError_t release(void* pointer) {
  if (!pointer) return cudaSuccess;
  Place place = place_of(pointer);
  if (place.low != address_of(pointer)) return cudaErrorInvalidValue;
  if (place.memory != Memory::device && place.memory != Memory::managed) return cudaErrorInvalidValue;
  {
    std::lock_guard lock(live_allocations_mutex);
    if (live_allocations().erase(place.low) == 0) {  // a variable of the program, or mapped memory
      if (!release_import(pointer, true)) return cudaErrorInvalidValue;
      forget_pool_block(pointer);
      return cudaSuccess;
    }
  }
  forget_advice(place.low);
  session::managed_memory().forget(place.low);
  forget_pool_block(pointer);
  return session::devices()[place.device].free(place.low) ? cudaSuccess : cudaErrorInvalidValue;
}

// ---- Managed memory. There is one physical memory, so that hints move no data; their arguments are checked as
// documented. A prefetch takes virtual time (session/managed_memory.h).

cudaError_t check_managed(const void* pointer, std::size_t count) {
  Place place = place_of(pointer);
  if (place.memory != Memory::managed || count == 0) return cudaErrorInvalidValue;
  return count <= place.high - address_of(pointer) ? cudaSuccess : cudaErrorInvalidValue;
}

int device_of(const cudaMemLocation& location) {
  return location.type == 1 ? location.id : location.type == 0 ? -2 : -1;  // cudaInvalidDeviceId, cudaCpuDeviceId
}

cudaError_t managed_range_attribute(void* data, std::size_t size, cudaMemRangeAttribute attribute, const void* pointer,
                                    std::size_t count) {
  if (!data || size < 4) return cudaErrorInvalidValue;
  if (cudaError_t error = check_managed(pointer, count)) return error;
  std::lock_guard lock(advice_mutex);
  const Advice& advice = advices()[place_of(pointer).low];
  auto* words = static_cast<int*>(data);
  switch (attribute) {
    case cudaMemRangeAttributeReadMostly:
      words[0] = advice.read_mostly;
      return cudaSuccess;
    case cudaMemRangeAttributePreferredLocation:
      words[0] = device_of(advice.preferred);
      return cudaSuccess;
    case cudaMemRangeAttributeAccessedBy:
      for (std::size_t i = 0; i < size / 4; i++) words[i] = i < advice.accessed_by.size() ? advice.accessed_by[i] : -2;
      return cudaSuccess;
    case cudaMemRangeAttributeLastPrefetchLocation:
      words[0] = device_of(advice.prefetched);
      return cudaSuccess;
    case cudaMemRangeAttributePreferredLocationType:
      words[0] = advice.preferred.type;
      return cudaSuccess;
    case cudaMemRangeAttributePreferredLocationId:
      words[0] = advice.preferred.id;
      return cudaSuccess;
    case cudaMemRangeAttributeLastPrefetchLocationType:
      words[0] = advice.prefetched.type;
      return cudaSuccess;
    case cudaMemRangeAttributeLastPrefetchLocationId:
      words[0] = advice.prefetched.id;
      return cudaSuccess;
  }
  return cudaErrorInvalidValue;
}

cudaError_t check_prefetch(const void* pointer, std::size_t count, cudaMemLocation location) {
  if (cudaError_t error = check_managed(pointer, count)) return error;
  return location.type == cudaMemLocationTypeDevice && !valid_device(location.id) ? cudaErrorInvalidDevice
                                                                                  : cudaSuccess;
}

cudaError_t prefetch_managed(const void* pointer, std::size_t count, cudaMemLocation location, cudaStream_t handle) {
  if (!resolve(handle)) return cudaErrorInvalidResourceHandle;
  if (cudaError_t error = check_prefetch(pointer, count, location)) return error;
  const Place place = place_of(pointer);
  {
    std::lock_guard lock(advice_mutex);
    advices()[place.low].prefetched = location;
  }
  const StreamRef stream = resolve(handle);
  if (stream->capturing) return cudaSuccess;
  session::managed_memory().see(place.low, place.high);
  charge_host();
  auto work = std::make_shared<Work>();
  work->place = [host = take_host_time(), stream, low = place.low, count, to_device = location.type == 1] {
    host.pay();
    session::timeline_entries().prefetch(stream->device, stream->id, *host.clock, low, count, to_device);
  };
  Executor::instance().issue(*stream, work);
  return cudaSuccess;
}

cudaError_t unregister_host(void* pointer) {
  Executor::instance().wait_all();
  std::lock_guard lock(host_mutex);
  auto block = host_blocks().find(address_of(pointer));
  if (block == host_blocks().end() || !block->second.registered) {
    const Memory memory = place_of(pointer).memory;  // allocated by CUDA, or unknown to it
    const bool unknown = pointer && (memory == Memory::pageable || memory == Memory::invalid);
    return unknown ? cudaErrorHostMemoryNotRegistered : cudaErrorInvalidValue;
  }
  device::AddressSpace::instance().unregister_host(block->first);
  current_device().publish_deallocation(
      {events::Allocation::Kind::registered, thread_state().device, block->first, block->second.size});
  host_blocks().erase(block);
  return cudaSuccess;
}

cudaError_t allocate_managed(void** out, std::size_t size, unsigned flags) {
  if (!out || size == 0 || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost)) return cudaErrorInvalidValue;
  if (!session::model().managed_memory) return cudaErrorNotSupported;
  return allocate(thread_state().device, size, out, events::Allocation::Kind::managed);
}

cudaError_t free_device(void* pointer, const char* by) {
  if (cudaError_t error = forbidden_by_captures()) return error;  // of a null pointer, too: measured on an H200
  if (!pointer) return cudaSuccess;
  synchronize_device(thread_state().device);
  const Place place = place_of(pointer);  // work of its own device may still use it
  if (place.memory == Memory::device || place.memory == Memory::managed) Executor::instance().wait_device(place.device);
  if (const GraphFree of_graph = note_graph_free(pointer); of_graph != GraphFree::other_memory)
    return of_graph == GraphFree::freed ? cudaSuccess : report_invalid_free(cudaErrorInvalidValue, pointer, by);
  return report_invalid_free(release(pointer), pointer, by);
}

cudaError_t advise_managed(const void* pointer, std::size_t count, cudaMemoryAdvise what, cudaMemLocation location) {
  if (cudaError_t error = check_managed(pointer, count)) return error;
  if (what < cudaMemAdviseSetReadMostly || what > cudaMemAdviseUnsetAccessedBy) return cudaErrorInvalidValue;
  if (location.type == 1 && what >= cudaMemAdviseSetPreferredLocation && !valid_device(location.id))
    return cudaErrorInvalidDevice;
  std::lock_guard lock(advice_mutex);
  Advice& advice = advices()[place_of(pointer).low];
  if (what <= cudaMemAdviseUnsetReadMostly) advice.read_mostly = what == cudaMemAdviseSetReadMostly;
  if (what == cudaMemAdviseSetPreferredLocation) advice.preferred = location;
  if (what == cudaMemAdviseUnsetPreferredLocation) advice.preferred = kNowhere;
  if (what == cudaMemAdviseSetAccessedBy) advice.accessed_by.push_back(device_of(location));
  if (what == cudaMemAdviseUnsetAccessedBy) std::erase(advice.accessed_by, device_of(location));
  return cudaSuccess;
}

bool pinned_flags(const void* pointer, unsigned* flags) {
  const std::lock_guard lock(host_mutex);
  const HostBlock* block = find_host(pointer);
  if (block && flags) *flags = block->flags | cudaHostAllocMapped;
  return block != nullptr;
}

cudaError_t allocate_linear(void** out, std::size_t size) {
  if (!out) return cudaErrorInvalidValue;
  *out = nullptr;
  if (size == 0) return cudaSuccess;
  if (cudaError_t error = forbidden_by_captures()) return error;
  return allocate(thread_state().device, size, out);
}

cudaError_t allocate_pitch(void** out, std::size_t* pitch, std::size_t width, std::size_t height) {
  if (!out || !pitch) return cudaErrorInvalidValue;
  *out = nullptr;
  return allocate_box({width, height, 1}, out, pitch);
}

cudaError_t allocate_3d(cudaPitchedPtr* out, cudaExtent extent) {
  if (!out) return cudaErrorInvalidValue;
  *out = {nullptr, 0, extent.width, extent.height};
  return allocate_box(extent, &out->ptr, &out->pitch);
}

cudaError_t host_alloc(void** out, std::size_t size, unsigned flags) {
  if (flags & ~7u) return cudaErrorInvalidValue;
  return allocate_host(out, size, flags);
}

cudaError_t host_get_device_pointer(void** out, void* pointer, unsigned flags) {
  if (!out || flags) return cudaErrorInvalidValue;
  if (!pinned_flags(pointer, nullptr)) return cudaErrorInvalidValue;
  *out = pointer;
  return cudaSuccess;
}

cudaError_t host_get_flags(unsigned* flags, void* pointer) {
  if (!flags) return cudaErrorInvalidValue;
  if (pinned_flags(pointer, flags)) return cudaSuccess;
  if (place_of(pointer).memory != Memory::managed) return cudaErrorInvalidValue;
  *flags = cudaHostAllocMapped;
  return cudaSuccess;
}

cudaError_t mem_get_info(std::size_t* free_bytes, std::size_t* total) {
  if (!free_bytes || !total) return cudaErrorInvalidValue;
  *free_bytes = current_device().bytes_free();
  *total = current_device().bytes_total();
  return cudaSuccess;
}

cudaError_t pointer_get_attributes(cudaPointerAttributes* out, const void* pointer) {
  if (!out) return cudaErrorInvalidValue;
  *out = {};
  Place place = place_of(pointer);
  void* p = const_cast<void*>(pointer);
  switch (place.memory) {
    case Memory::device:
      out->type = cudaMemoryTypeDevice;
      out->device = place.device;
      out->devicePointer = p;
      break;
    case Memory::managed:
      out->type = cudaMemoryTypeManaged;
      out->device = place.device;
      out->devicePointer = out->hostPointer = p;
      break;
    case Memory::pinned:
      out->type = cudaMemoryTypeHost;
      out->device = place.device;
      out->devicePointer = out->hostPointer = p;
      break;
    case Memory::pageable:
    case Memory::invalid:
      out->type = cudaMemoryTypeUnregistered;
      out->device = -2;  // cudaInvalidDeviceId, as the runtime reports it
      out->hostPointer = p;
      break;
  }
  return cudaSuccess;
}

cudaError_t mem_range_get_attributes(void** data, std::size_t* sizes, cudaMemRangeAttribute* attributes,
                                     std::size_t attribute_count, const void* pointer, std::size_t count) {
  if (!data || !sizes || !attributes || attribute_count == 0) return cudaErrorInvalidValue;
  for (std::size_t i = 0; i < attribute_count; i++)
    if (cudaError_t error = managed_range_attribute(data[i], sizes[i], attributes[i], pointer, count)) return error;
  return cudaSuccess;
}

cudaError_t stream_attach_mem_async(cudaStream_t stream, unsigned flags) {
  if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost && flags != cudaMemAttachSingle)
    return cudaErrorInvalidValue;
  return resolve(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

}  // namespace warpgrind::semantics
