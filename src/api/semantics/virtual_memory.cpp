// Virtual memory management: address reservations, memory, mappings and access rights.
#include "semantics/virtual_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "base/element.h"
#include "device/memory/address_space.h"
#include "device/memory/kept_memory.h"
#include "device/memory/physical_memory.h"
#include "semantics/executor.h"
#include "semantics/shared_memory.h"
#include "semantics/state.h"
#include "semantics/virtual_memory_state.h"

namespace warpgrind::semantics {

VirtualMemory& virtual_memory() {
  static auto* all = new VirtualMemory;
  return *all;
}

Mappings::iterator mapping_at(VirtualMemory& v, std::uint64_t address) {
  const auto above = v.mappings.upper_bound(address);
  if (above == v.mappings.begin()) return v.mappings.end();
  const auto before = std::prev(above);
  return address < before->first + before->second.size ? before : v.mappings.end();
}

void forget_if_unused(VirtualMemory& v, std::uint64_t handle) {
  if (v.multicasts.contains(handle)) return forget_multicast_if_unused(v, handle);
  const auto found = v.memories.find(handle);
  WG_ASSERT(found != v.memories.end());
  const Physical& memory = found->second;
  if (memory.references || memory.mappings) return;
  if (memory.file >= 0)
    ::close(memory.file);  // the host frees the pages when no process has them open
  else
    device::give_physical_back(memory.offset, memory.size);
  if (!memory.imported) session::devices()[memory.device].give_memory_back(memory.size);
  v.memories.erase(found);
}

namespace {

constexpr std::string_view kMemoryFile = "physical memory";

bool is_multiple(std::uint64_t number) {
  return number % kMappingGranularity == 0;
}

// The reservation that contains the whole range; null: there is none.
const std::pair<const std::uint64_t, std::uint64_t>* reservation_of(const VirtualMemory& v, std::uint64_t low,
                                                                    std::uint64_t size) {
  const auto above = v.reserved.upper_bound(low);
  if (above == v.reserved.begin()) return nullptr;
  const auto& reserved = *std::prev(above);
  return size <= reserved.second && low - reserved.first <= reserved.second - size ? &reserved : nullptr;
}

// Mappings of the range, from `first` to before `end`. False: the range is not made of whole mappings without gaps.
bool whole_mappings(VirtualMemory& v, std::uint64_t address, std::uint64_t size, Mappings::iterator& first,
                    Mappings::iterator& end) {
  first = end = v.mappings.find(address);
  std::uint64_t at = address;
  while (end != v.mappings.end() && end->first == at && at - address < size) at += (end++)->second.size;
  return size != 0 && at - address == size;
}

// Ranges of [low, high) that kernels may access. Adjacent mappings with the same access are one allocation.
std::vector<device::Range> accessible(VirtualMemory& v, std::uint64_t low, std::uint64_t high) {
  std::vector<device::Range> out;
  for (auto m = v.mappings.lower_bound(low); m != v.mappings.end() && m->first < high; ++m) {
    device::Range range;
    range.low = m->first;
    range.high = m->first + m->second.size;
    const auto memory = v.memories.find(m->second.memory);
    if (memory == v.memories.end()) continue;  // a multicast object: only multimem.* may use its addresses
    range.device = memory->second.device;
    range.devices = 0;
    range.constant = true;
    for (const auto& [device, flags] : m->second.access) {
      if (flags == cudaMemAccessFlagsProtNone) continue;
      range.devices |= std::uint64_t{1} << device;
      if (flags == cudaMemAccessFlagsProtReadWrite) range.constant = false;
    }
    if (!range.devices) continue;
    const bool goes_on = !out.empty() && out.back().high == range.low && out.back().device == range.device &&
                         out.back().devices == range.devices && out.back().constant == range.constant;
    if (goes_on)
      out.back().high = range.high;
    else
      out.push_back(range);
  }
  return out;
}

Status take_pages(Physical& memory, bool shareable) {
  if (shareable) {
    const Result<int> made = device::make_shareable_file(shareable_name(kMemoryFile, memory.device), memory.size);
    if (!made) return made.error();
    memory.file = *made;
    return Ok{};
  }
  const Result<std::uint64_t> offset = device::take_physical(memory.size);
  if (!offset) return offset.error();
  memory.offset = *offset;
  return Ok{};
}

events::Allocation event_of(const device::Range& range) {
  return {events::Allocation::Kind::device, range.device, range.low, range.high - range.low};
}

// Updates the ranges for kernels after a change in [low, high). Neighbours may now be merged with it, or separated.
void update_kernel_ranges(VirtualMemory& v, std::uint64_t low, std::uint64_t high) {
  for (auto m = v.mappings.lower_bound(low);
       m != v.mappings.begin() && std::prev(m)->first + std::prev(m)->second.size == low; --m)
    low = std::prev(m)->first;
  for (auto m = v.mappings.lower_bound(high); m != v.mappings.end() && m->first == high; ++m) high += m->second.size;
  const std::vector<device::Range> now = accessible(v, low, high);
  const std::vector<device::Range> before = device::AddressSpace::instance().replace(low, high, now);
  const auto same = [](const device::Range& a, const device::Range& b) { return a.low == b.low && a.high == b.high; };
  const auto none_like = [&](const std::vector<device::Range>& list, const device::Range& range) {
    return std::none_of(list.begin(), list.end(), [&](const device::Range& r) { return same(r, range); });
  };
  for (const device::Range& r : before)
    if (none_like(now, r)) session::devices()[r.device].publish_deallocation(event_of(r));
  for (const device::Range& r : now)
    if (none_like(before, r)) session::devices()[r.device].publish_allocation(event_of(r));
  update_multicasts(v);
}

}  // namespace

cudaError_t reserve_addresses(std::uint64_t* out, std::uint64_t size, std::uint64_t alignment, std::uint64_t wish) {
  if (!out || size == 0 || !is_multiple(size) || (alignment & (alignment - 1))) return cudaErrorInvalidValue;
  const std::uint64_t address = device::AddressSpace::instance().reserve(size, alignment, wish);
  if (!address) return refuse(cudaErrorMemoryAllocation, "no address space left for device memory");
  VirtualMemory& v = virtual_memory();
  const std::lock_guard lock(v.mutex);
  v.reserved[address] = size;
  *out = address;
  return cudaSuccess;
}

cudaError_t free_addresses(std::uint64_t address, std::uint64_t size) {
  VirtualMemory& v = virtual_memory();
  const std::lock_guard lock(v.mutex);
  const auto found = v.reserved.find(address);
  if (found == v.reserved.end() || found->second != size)
    return refuse(cudaErrorInvalidValue, "the range must be exactly what one call reserved");
  const auto first = v.mappings.lower_bound(address);
  if (first != v.mappings.end() && first->first - address < size)
    return refuse(cudaErrorInvalidValue, "a part of the range is still mapped");
  v.reserved.erase(found);
  device::AddressSpace::instance().unreserve(address, size);
  return cudaSuccess;
}

cudaError_t create_memory(std::uint64_t* handle, std::uint64_t size, int device, bool shareable) {
  if (!handle || size == 0 || !is_multiple(size)) return cudaErrorInvalidValue;
  if (!valid_device(device)) return cudaErrorInvalidDevice;
  device::Device& gpu = session::devices()[device];
  if (!gpu.take_memory(size)) {
    gpu.publish(events::FailedAllocation{device, size});
    return refuse(cudaErrorMemoryAllocation, fmt::format("{} bytes do not fit into the GPU's memory", size));
  }
  Physical memory{0, size, device};
  const Status taken = take_pages(memory, shareable);
  if (!taken) {
    gpu.give_memory_back(size);
    return refuse(cudaErrorMemoryAllocation, taken.error().message);
  }
  VirtualMemory& v = virtual_memory();
  const std::lock_guard lock(v.mutex);
  *handle = ++v.last_handle;
  v.memories[*handle] = memory;
  return cudaSuccess;
}

cudaError_t export_memory(int* descriptor, std::uint64_t handle) {
  VirtualMemory& v = virtual_memory();
  const std::lock_guard lock(v.mutex);
  if (v.multicasts.contains(handle)) return not_supported("multicast objects shared with other processes");
  const auto found = v.memories.find(handle);
  if (!descriptor || found == v.memories.end() || found->second.references == 0) return cudaErrorInvalidValue;
  if (found->second.file < 0)
    return refuse(cudaErrorInvalidValue, "the memory was not created for export (requestedHandleTypes)");
  device::KeptMemory::instance().shares_memory();
  *descriptor = ::dup(found->second.file);  // not close-on-exec: child programs inherit it
  return *descriptor < 0 ? refuse(cudaErrorOperatingSystem, std::strerror(errno)) : cudaSuccess;
}

cudaError_t import_memory(std::uint64_t* handle, int descriptor) {
  const std::optional<int> device = device_of_file(descriptor, kMemoryFile);
  struct stat facts {};
  if (!handle || !device || ::fstat(descriptor, &facts) != 0)
    return refuse(cudaErrorInvalidValue, "not the descriptor of memory on a GPU of this process");
  Physical memory{0, static_cast<std::uint64_t>(facts.st_size), *device};
  memory.file = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);  // a copy: the program may close its descriptor
  if (memory.file < 0) return refuse(cudaErrorOperatingSystem, std::strerror(errno));
  memory.imported = true;
  device::KeptMemory::instance().shares_memory();
  VirtualMemory& v = virtual_memory();
  const std::lock_guard lock(v.mutex);
  *handle = ++v.last_handle;
  v.memories[*handle] = memory;
  return cudaSuccess;
}

cudaError_t release_memory(std::uint64_t handle) {
  VirtualMemory& v = virtual_memory();
  const std::lock_guard lock(v.mutex);
  unsigned* const references = references_of(v, handle);
  if (!references || *references == 0) return cudaErrorInvalidValue;
  --*references;
  forget_if_unused(v, handle);
  return cudaSuccess;
}

cudaError_t retain_memory(std::uint64_t* handle, std::uint64_t address) {
  VirtualMemory& v = virtual_memory();
  const std::lock_guard lock(v.mutex);
  const auto mapping = mapping_at(v, address);
  if (!handle || mapping == v.mappings.end()) return cudaErrorInvalidValue;
  *handle = mapping->second.memory;
  ++*references_of(v, *handle);
  return cudaSuccess;
}

bool is_shareable(std::uint64_t address) {
  VirtualMemory& v = virtual_memory();
  const std::lock_guard lock(v.mutex);
  const auto mapping = mapping_at(v, address);
  const auto memory = mapping == v.mappings.end() ? v.memories.end() : v.memories.find(mapping->second.memory);
  return memory != v.memories.end() && memory->second.file >= 0;
}

cudaError_t device_of_memory(int* device, bool* shareable, std::uint64_t handle) {
  VirtualMemory& v = virtual_memory();
  const std::lock_guard lock(v.mutex);
  const auto found = v.memories.find(handle);
  if (!device || found == v.memories.end() || found->second.references == 0) return cudaErrorInvalidValue;
  *device = found->second.device;
  *shareable = found->second.file >= 0;
  return cudaSuccess;
}

cudaError_t map_memory(std::uint64_t address, std::uint64_t size, std::uint64_t offset, std::uint64_t handle) {
  VirtualMemory& v = virtual_memory();
  std::unique_lock lock(v.mutex);
  MulticastObject* const multicast = multicast_with_all_devices(v, handle, lock);
  const auto found = v.memories.find(handle);
  const unsigned* const references = references_of(v, handle);
  if (!references || *references == 0) return refuse(cudaErrorInvalidValue, "no such memory");
  if (size == 0 || !is_multiple(size) || !is_multiple(address))
    return refuse(cudaErrorInvalidValue, "not a multiple of the granularity");
  if (offset || size != (multicast ? multicast->size : found->second.size))
    return refuse(cudaErrorNotSupported, "memory can be mapped only as a whole (offset 0), as on a GPU");
  if (!reservation_of(v, address, size)) return refuse(cudaErrorInvalidValue, "these addresses are not reserved");
  const auto next = v.mappings.lower_bound(address);
  if (mapping_at(v, address) != v.mappings.end() || (next != v.mappings.end() && next->first - address < size))
    return refuse(cudaErrorInvalidValue, "a part of the range is already mapped");
  if (multicast) {
    multicast->mappings++;
    v.mappings[address] = {size, handle};
    update_multicasts(v);
    return cudaSuccess;
  }
  if (Status mapped = device::map_physical(address, size, found->second.offset, found->second.file); !mapped)
    return refuse(cudaErrorMemoryAllocation, mapped.error().message);
  found->second.mappings++;
  v.mappings[address] = {size, handle};
  return cudaSuccess;
}

cudaError_t unmap_memory(std::uint64_t address, std::uint64_t size) {
  Executor::instance().wait_all();
  VirtualMemory& v = virtual_memory();
  const std::lock_guard lock(v.mutex);
  if (size == 0 || !reservation_of(v, address, size)) return refuse(cudaErrorInvalidValue, "the range is not reserved");
  const auto first = v.mappings.lower_bound(address), end = v.mappings.lower_bound(address + size);
  const auto ends_behind = [&](const Mappings::value_type& m, std::uint64_t at) {
    return m.first + m.second.size > at;
  };
  if ((first != v.mappings.begin() && ends_behind(*std::prev(first), address)) ||
      (first != end && ends_behind(*std::prev(end), address + size)))
    return refuse(cudaErrorInvalidValue, "not whole mappings");
  if (first == end) return cudaSuccess;
  std::vector<std::uint64_t> handles;
  for (auto m = first; m != end; ++m) handles.push_back(m->second.memory);
  v.mappings.erase(first, end);
  update_kernel_ranges(v, address, address + size);
  device::unmap_physical(address, size);
  for (const std::uint64_t handle : handles) {
    const auto multicast = v.multicasts.find(handle);
    unsigned& mappings =
        multicast == v.multicasts.end() ? element(v.memories, handle).mappings : multicast->second.mappings;
    WG_ASSERT(mappings > 0);
    mappings--;
    forget_if_unused(v, handle);
  }
  return cudaSuccess;
}

std::optional<MappedPlace> mapped_place(std::uint64_t address) {
  VirtualMemory& v = virtual_memory();
  const std::lock_guard lock(v.mutex);
  const auto mapping = mapping_at(v, address);
  if (mapping == v.mappings.end()) return std::nullopt;
  const auto* const reservation = reservation_of(v, mapping->first, mapping->second.size);
  WG_ASSERT(reservation);  // free_addresses() refuses a reservation with mappings
  const auto& [low, size] = *reservation;
  return MappedPlace{mapping->first, mapping->first + mapping->second.size, low, low + size};
}

cudaError_t set_access(std::uint64_t address, std::uint64_t size, const cudaMemAccessDesc* list, std::size_t count) {
  if (!list || count == 0) return cudaErrorInvalidValue;
  for (std::size_t i = 0; i < count; i++) {
    const cudaMemAccessFlags flags = list[i].flags;
    if (flags != cudaMemAccessFlagsProtNone && flags != cudaMemAccessFlagsProtRead &&
        flags != cudaMemAccessFlagsProtReadWrite)
      return cudaErrorInvalidValue;
    const cudaMemLocation& of = list[i].location;
    if (of.type == cudaMemLocationTypeInvalid || (of.type == cudaMemLocationTypeDevice && !valid_device(of.id)))
      return cudaErrorInvalidValue;
    if (of.type != cudaMemLocationTypeDevice) return not_supported("host access to mapped memory");
  }
  Executor::instance().wait_all();  // it may take access away
  VirtualMemory& v = virtual_memory();
  const std::lock_guard lock(v.mutex);
  Mappings::iterator first, end;
  if (!whole_mappings(v, address, size, first, end)) return refuse(cudaErrorInvalidValue, "not whole mappings");
  for (auto m = first; m != end; ++m)
    for (std::size_t i = 0; i < count; i++)
      if (!may_use_multicast(v, m->second.memory, list[i].location.id))
        return refuse(cudaErrorInvalidValue, "the GPU was not added to the multicast object");
  for (auto m = first; m != end; ++m)
    for (std::size_t i = 0; i < count; i++) m->second.access[list[i].location.id] = list[i].flags;
  update_kernel_ranges(v, address, address + size);
  return cudaSuccess;
}

cudaError_t get_access(cudaMemAccessFlags* flags, const cudaMemLocation& of, std::uint64_t address) {
  if (!flags || of.type != cudaMemLocationTypeDevice) return cudaErrorInvalidValue;
  if (!valid_device(of.id)) return cudaErrorInvalidDevice;
  VirtualMemory& v = virtual_memory();
  const std::lock_guard lock(v.mutex);
  const auto mapping = mapping_at(v, address);
  if (mapping == v.mappings.end()) return cudaErrorInvalidValue;
  const auto& access = mapping->second.access;
  const auto found = access.find(of.id);
  *flags = found == access.end() ? cudaMemAccessFlagsProtNone : found->second;
  return cudaSuccess;
}

}  // namespace warpgrind::semantics
