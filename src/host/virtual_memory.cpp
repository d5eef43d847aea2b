#include "host/virtual_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <vector>

#include "base/element.h"
#include "device/memory/address_space.h"
#include "device/memory/physical_memory.h"
#include "host/executor.h"
#include "host/state.h"

namespace warpgrind::host {

namespace {

struct Memory {
  std::uint64_t offset = 0, size = 0;
  int device = 0;
  unsigned references = 1, mappings = 0;
};
struct Mapping {
  std::uint64_t size = 0, memory = 0;          // a handle
  std::map<int, cudaMemAccessFlags> access{};  // by device; others have none
};
using Mappings = std::map<std::uint64_t, Mapping>;  // by address

struct VirtualMemory {
  std::mutex mutex;
  std::map<std::uint64_t, std::uint64_t> reserved;  // address -> size
  std::map<std::uint64_t, Memory> memories;         // by handle
  Mappings mappings;
  std::uint64_t last_handle = 0;
};
VirtualMemory& virtual_memory() {
  static auto* all = new VirtualMemory;
  return *all;
}

bool is_multiple(std::uint64_t number) {
  return number % kMappingGranularity == 0;
}

// The reservation that has all of it.
bool is_reserved(const VirtualMemory& v, std::uint64_t low, std::uint64_t size) {
  const auto above = v.reserved.upper_bound(low);
  if (above == v.reserved.begin()) return false;
  const auto& [start, bytes] = *std::prev(above);
  return size <= bytes && low - start <= bytes - size;
}

Mappings::iterator mapping_at(VirtualMemory& v, std::uint64_t address) {
  const auto above = v.mappings.upper_bound(address);
  if (above == v.mappings.begin()) return v.mappings.end();
  const auto before = std::prev(above);
  return address < before->first + before->second.size ? before : v.mappings.end();
}

// From the mapping at `address` to that after the last; false: these are no whole mappings without a gap.
bool whole_mappings(VirtualMemory& v, std::uint64_t address, std::uint64_t size, Mappings::iterator& first,
                    Mappings::iterator& end) {
  first = end = v.mappings.find(address);
  std::uint64_t at = address;
  while (end != v.mappings.end() && end->first == at && at - address < size) at += (end++)->second.size;
  return size != 0 && at - address == size;
}

void forget_if_unused(VirtualMemory& v, std::uint64_t handle) {
  const auto found = v.memories.find(handle);
  const Memory& memory = found->second;
  if (memory.references || memory.mappings) return;
  device::give_physical_back(memory.offset, memory.size);
  the_session().device(memory.device).give_memory_back(memory.size);
  v.memories.erase(found);
}

// What kernels may use of [low, high): mappings with the same access that follow each other are one allocation.
std::vector<device::Range> accessible(VirtualMemory& v, std::uint64_t low, std::uint64_t high) {
  std::vector<device::Range> out;
  for (auto m = v.mappings.lower_bound(low); m != v.mappings.end() && m->first < high; ++m) {
    device::Range range;
    range.low = m->first;
    range.high = m->first + m->second.size;
    range.device = element(v.memories, m->second.memory).device;
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

events::Allocation event_of(const device::Range& range) {
  return {events::Allocation::Kind::device, range.device, range.low, range.high - range.low};
}

// After a change in [low, high): the neighbours may be one with it now, or not any more.
void tell_kernels(VirtualMemory& v, std::uint64_t low, std::uint64_t high) {
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
    if (none_like(now, r)) the_session().device(r.device).publish_deallocation(event_of(r));
  for (const device::Range& r : now)
    if (none_like(before, r)) the_session().device(r.device).publish_allocation(event_of(r));
}

}  // namespace

cudaError_t reserve_addresses(std::uint64_t* out, std::uint64_t size, std::uint64_t alignment, std::uint64_t wish) {
  constexpr std::uint64_t kPage = 4096;
  if (!out || size == 0 || size % kPage || (alignment & (alignment - 1))) return cudaErrorInvalidValue;
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
    return refuse(cudaErrorInvalidValue, "not what one call reserved");
  const auto first = v.mappings.lower_bound(address);
  if (first != v.mappings.end() && first->first - address < size)
    return refuse(cudaErrorInvalidValue, "something is still mapped there");
  v.reserved.erase(found);
  device::AddressSpace::instance().unreserve(address, size);
  return cudaSuccess;
}

cudaError_t create_memory(std::uint64_t* handle, std::uint64_t size, int device) {
  if (!handle || size == 0 || !is_multiple(size)) return cudaErrorInvalidValue;
  if (!valid_device(device)) return cudaErrorInvalidDevice;
  device::Device& gpu = the_session().device(device);
  if (!gpu.take_memory(size)) {
    gpu.publish(events::FailedAllocation{device, size});
    return refuse(cudaErrorMemoryAllocation, fmt::format("{} bytes do not fit into the GPU's memory", size));
  }
  const Result<std::uint64_t> offset = device::take_physical(size);
  if (!offset) {
    gpu.give_memory_back(size);
    return refuse(cudaErrorMemoryAllocation, offset.error().message);
  }
  VirtualMemory& v = virtual_memory();
  const std::lock_guard lock(v.mutex);
  *handle = ++v.last_handle;
  v.memories[*handle] = {*offset, size, device};
  return cudaSuccess;
}

cudaError_t release_memory(std::uint64_t handle) {
  VirtualMemory& v = virtual_memory();
  const std::lock_guard lock(v.mutex);
  const auto found = v.memories.find(handle);
  if (found == v.memories.end() || found->second.references == 0) return cudaErrorInvalidValue;
  found->second.references--;
  forget_if_unused(v, handle);
  return cudaSuccess;
}

cudaError_t retain_memory(std::uint64_t* handle, std::uint64_t address) {
  VirtualMemory& v = virtual_memory();
  const std::lock_guard lock(v.mutex);
  const auto mapping = mapping_at(v, address);
  if (!handle || mapping == v.mappings.end()) return cudaErrorInvalidValue;
  *handle = mapping->second.memory;
  element(v.memories, *handle).references++;
  return cudaSuccess;
}

cudaError_t device_of_memory(int* device, std::uint64_t handle) {
  VirtualMemory& v = virtual_memory();
  const std::lock_guard lock(v.mutex);
  const auto found = v.memories.find(handle);
  if (!device || found == v.memories.end() || found->second.references == 0) return cudaErrorInvalidValue;
  *device = found->second.device;
  return cudaSuccess;
}

cudaError_t map_memory(std::uint64_t address, std::uint64_t size, std::uint64_t handle) {
  VirtualMemory& v = virtual_memory();
  const std::lock_guard lock(v.mutex);
  const auto found = v.memories.find(handle);
  if (found == v.memories.end() || found->second.references == 0)
    return refuse(cudaErrorInvalidValue, "no such memory");
  if (size == 0 || size > found->second.size || !is_multiple(size) || !is_multiple(address))
    return refuse(cudaErrorInvalidValue, "not a multiple of the granularity, or more than there is");
  if (!is_reserved(v, address, size)) return refuse(cudaErrorInvalidValue, "these addresses are not reserved");
  const auto next = v.mappings.lower_bound(address);
  if (mapping_at(v, address) != v.mappings.end() || (next != v.mappings.end() && next->first - address < size))
    return refuse(cudaErrorInvalidValue, "something is mapped there");
  if (Status mapped = device::map_physical(address, size, found->second.offset); !mapped)
    return refuse(cudaErrorMemoryAllocation, mapped.error().message);
  found->second.mappings++;
  v.mappings[address] = {size, handle};
  return cudaSuccess;
}

cudaError_t unmap_memory(std::uint64_t address, std::uint64_t size) {
  Executor::instance().wait_all();
  VirtualMemory& v = virtual_memory();
  const std::lock_guard lock(v.mutex);
  Mappings::iterator first, end;
  if (!whole_mappings(v, address, size, first, end)) return refuse(cudaErrorInvalidValue, "not whole mappings");
  std::vector<std::uint64_t> handles;
  for (auto m = first; m != end; ++m) handles.push_back(m->second.memory);
  v.mappings.erase(first, end);
  tell_kernels(v, address, address + size);
  device::unmap_physical(address, size);
  for (const std::uint64_t handle : handles) {
    element(v.memories, handle).mappings--;
    forget_if_unused(v, handle);
  }
  return cudaSuccess;
}

bool is_mapped(std::uint64_t address) {
  VirtualMemory& v = virtual_memory();
  const std::lock_guard lock(v.mutex);
  return mapping_at(v, address) != v.mappings.end();
}

cudaError_t set_access(std::uint64_t address, std::uint64_t size, const cudaMemAccessDesc* list, std::size_t count) {
  if (!list || count == 0) return cudaErrorInvalidValue;
  for (std::size_t i = 0; i < count; i++) {
    const cudaMemAccessFlags flags = list[i].flags;
    if (flags != cudaMemAccessFlagsProtNone && flags != cudaMemAccessFlagsProtRead &&
        flags != cudaMemAccessFlagsProtReadWrite)
      return cudaErrorInvalidValue;
    if (list[i].location.type != cudaMemLocationTypeDevice) return not_supported("access of the host to mapped memory");
    if (!valid_device(list[i].location.id)) return cudaErrorInvalidDevice;
  }
  Executor::instance().wait_all();  // it may take access away
  VirtualMemory& v = virtual_memory();
  const std::lock_guard lock(v.mutex);
  Mappings::iterator first, end;
  if (!whole_mappings(v, address, size, first, end)) return refuse(cudaErrorInvalidValue, "not whole mappings");
  for (auto m = first; m != end; ++m)
    for (std::size_t i = 0; i < count; i++) m->second.access[list[i].location.id] = list[i].flags;
  tell_kernels(v, address, address + size);
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

}  // namespace warpgrind::host
