// Multicast objects: their GPUs, the memory bound to them, and the table of multimem addresses for kernels.
#include "semantics/multicast.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <utility>

#include "base/assert.h"
#include "base/element.h"
#include "device/memory/address_space.h"
#include "device/memory/physical_memory.h"
#include "semantics/device_properties.h"
#include "semantics/executor.h"
#include "semantics/pools.h"
#include "semantics/state.h"
#include "semantics/virtual_memory_state.h"

namespace warpgrind::semantics {

namespace {

bool in_units(std::uint64_t number) {
  return number % kMappingGranularity == 0;
}

bool is_member(const MulticastObject& object, int device) {
  return std::binary_search(object.devices.begin(), object.devices.end(), device);
}

MulticastObject* find_multicast(VirtualMemory& v, std::uint64_t handle) {
  const auto found = v.multicasts.find(handle);
  return found == v.multicasts.end() || found->second.references == 0 ? nullptr : &found->second;
}

void remove_alias(MulticastBinding& binding) {
  if (binding.alias == 0) return;
  device::AddressSpace::instance().replace(binding.alias, binding.alias + binding.size, {});
  device::unmap_physical(binding.alias, binding.size);
  device::AddressSpace::instance().unreserve(binding.alias, binding.size);
  binding.alias = 0;
}

void remove_binding(VirtualMemory& v, MulticastBinding& binding) {
  remove_alias(binding);
  if (binding.memory == 0) return;
  Physical& memory = element(v.memories, binding.memory);
  WG_ASSERT(memory.mappings > 0);
  memory.mappings--;
  forget_if_unused(v, binding.memory);
}

// Address at which the program has mapped the bound memory for kernels of its GPU; 0: nowhere. Accesses to multimem
// addresses are made there, so that checks see that they touch the same memory as plain ones.
std::uint64_t mapped_address(const VirtualMemory& v, const MulticastBinding& binding) {
  for (const auto& [address, mapping] : v.mappings) {
    if (mapping.memory != binding.memory) continue;
    const auto access = mapping.access.find(binding.device);
    if (access != mapping.access.end() && access->second == cudaMemAccessFlagsProtReadWrite)
      return address + binding.memory_offset;
  }
  return 0;
}

// Maps the memory at addresses that no kernel can use in plain accesses. 0: none are left.
std::uint64_t make_alias(const VirtualMemory& v, const MulticastBinding& binding) {
  const Physical& memory = element(v.memories, binding.memory);
  auto& space = device::AddressSpace::instance();
  const std::uint64_t address = space.reserve(binding.size, 0, 0);
  if (address == 0) return 0;
  if (!device::map_physical(address, binding.size, memory.offset + binding.memory_offset, memory.file)) {
    space.unreserve(address, binding.size);
    return 0;
  }
  device::Range range;
  range.low = address;
  range.high = address + binding.size;
  range.device = binding.device;
  range.devices = 0;
  space.replace(range.low, range.high, {range});
  return address;
}

std::uint64_t memory_address(VirtualMemory& v, MulticastBinding& binding) {
  if (binding.memory == 0) return binding.address;
  if (const std::uint64_t mapped = mapped_address(v, binding)) {
    remove_alias(binding);
    return mapped;
  }
  if (binding.alias == 0) binding.alias = make_alias(v, binding);
  return binding.alias;
}

device::Multicast table_of(VirtualMemory& v, MulticastObject& object, std::uint64_t address, const Mapping& mapping) {
  device::Multicast out;
  out.low = address;
  out.high = address + mapping.size;
  for (const auto& [device, flags] : mapping.access) {
    if (flags == cudaMemAccessFlagsProtNone) continue;
    out.readers |= std::uint64_t{1} << device;
    if (flags == cudaMemAccessFlagsProtReadWrite) out.writers |= std::uint64_t{1} << device;
  }
  for (const int device : object.devices) {
    device::Multicast::Member member{device, {}};
    for (MulticastBinding& b : object.bindings)
      if (b.device == device)
        if (const std::uint64_t at = memory_address(v, b))
          member.pieces.push_back({address + b.offset, address + b.offset + b.size, at});
    out.members.push_back(std::move(member));
  }
  return out;
}

cudaError_t bind(VirtualMemory& v, MulticastObject& object, const MulticastBinding& binding) {
  if (binding.size == 0 || !in_units(binding.size) || !in_units(binding.offset) || !in_units(binding.memory_offset))
    return refuse(cudaErrorInvalidValue, "not a multiple of the granularity");
  if (binding.offset > object.size || binding.size > object.size - binding.offset)
    return refuse(cudaErrorInvalidValue, "the range goes past the end of the multicast object");
  if (!is_member(object, binding.device))
    return refuse(cudaErrorInvalidDevice, "the memory's GPU was not added to the multicast object");
  for (const MulticastBinding& b : object.bindings)
    if (b.device == binding.device && b.offset < binding.offset + binding.size && binding.offset < b.offset + b.size)
      return refuse(cudaErrorInvalidValue, "memory of this GPU is already bound to a part of the range");
  if (binding.memory != 0) element(v.memories, binding.memory).mappings++;
  const auto before = [](const MulticastBinding& a, const MulticastBinding& b) { return a.offset < b.offset; };
  object.bindings.insert(std::upper_bound(object.bindings.begin(), object.bindings.end(), binding, before), binding);
  update_multicasts(v);
  return cudaSuccess;
}

cudaError_t bind_memory(VirtualMemory& v, MulticastObject& object, MulticastBinding binding) {
  const auto memory = v.memories.find(binding.memory);
  if (memory == v.memories.end()) return refuse(cudaErrorInvalidValue, "no such memory");
  if (object.shareable && memory->second.file < 0)
    return refuse(cudaErrorInvalidValue, "only shareable memory can be bound to a shareable multicast object");
  if (binding.memory_offset > memory->second.size || binding.size > memory->second.size - binding.memory_offset)
    return refuse(cudaErrorInvalidValue, "the range goes past the end of the memory");
  binding.device = memory->second.device;
  return bind(v, object, binding);
}

}  // namespace

bool has_multicast(int device) {
  const GpuModel& model = session::devices()[device].model();
  return model.cc_major == 9 || model.cc_major == 10;
}

unsigned* references_of(VirtualMemory& v, std::uint64_t handle) {
  if (const auto memory = v.memories.find(handle); memory != v.memories.end()) return &memory->second.references;
  const auto multicast = v.multicasts.find(handle);
  return multicast == v.multicasts.end() ? nullptr : &multicast->second.references;
}

void forget_multicast_if_unused(VirtualMemory& v, std::uint64_t handle) {
  MulticastObject& object = element(v.multicasts, handle);
  if (object.references || object.mappings) return;
  for (MulticastBinding& binding : object.bindings) remove_binding(v, binding);
  v.multicasts.erase(handle);
}

MulticastObject* multicast_with_all_devices(VirtualMemory& v, std::uint64_t handle,
                                            std::unique_lock<std::mutex>& lock) {
  MulticastObject* object = find_multicast(v, handle);
  v.device_added.wait(lock, [&] {
    object = find_multicast(v, handle);  // another thread may have released it
    return !object || object->devices.size() == object->device_count;
  });
  return object;
}

bool may_use_multicast(const VirtualMemory& v, std::uint64_t handle, int device) {
  const auto multicast = v.multicasts.find(handle);
  return multicast == v.multicasts.end() || is_member(multicast->second, device);
}

void update_multicasts(VirtualMemory& v) {
  if (v.multicasts.empty() && !v.has_multicast_table) return;
  std::vector<device::Multicast> all;
  for (const auto& [address, mapping] : v.mappings)
    if (const auto object = v.multicasts.find(mapping.memory); object != v.multicasts.end())
      all.push_back(table_of(v, object->second, address, mapping));
  v.has_multicast_table = !all.empty();
  device::AddressSpace::instance().set_multicasts(std::move(all));
}

cudaError_t create_multicast(std::uint64_t* handle, std::size_t device_count, std::uint64_t size, bool shareable) {
  const auto capable = [] {
    int count = 0;
    for (int device = 0; valid_device(device); ++device) count += has_multicast(device);
    return static_cast<std::size_t>(count);
  }();
  if (capable == 0) return refuse(cudaErrorNotSupported, "this GPU has no multicast (compute capability 9.0 and 10)");
  if (!handle || device_count == 0 || size == 0 || !in_units(size)) return cudaErrorInvalidValue;
  if (device_count > capable)
    return refuse(cudaErrorInvalidValue, "there are not so many GPUs: run with a list of them, as --gpu h100,h100");
  VirtualMemory& v = virtual_memory();
  const std::lock_guard lock(v.mutex);
  *handle = ++v.last_handle;
  MulticastObject object;
  object.size = size;
  object.device_count = device_count;
  object.shareable = shareable;
  v.multicasts[*handle] = std::move(object);
  return cudaSuccess;
}

cudaError_t add_multicast_device(std::uint64_t handle, int device) {
  if (!valid_device(device)) return cudaErrorInvalidDevice;
  if (!has_multicast(device)) return refuse(cudaErrorNotSupported, "this GPU has no multicast");
  VirtualMemory& v = virtual_memory();
  const std::lock_guard lock(v.mutex);
  MulticastObject* const object = find_multicast(v, handle);
  if (!object) return refuse(cudaErrorInvalidValue, "no such multicast object");
  if (is_member(*object, device)) return refuse(cudaErrorInvalidValue, "the GPU has already been added");
  if (object->devices.size() == object->device_count)
    return refuse(cudaErrorInvalidValue, "all GPUs of the multicast object have already been added");
  object->devices.insert(std::upper_bound(object->devices.begin(), object->devices.end(), device), device);
  v.device_added.notify_all();
  return cudaSuccess;
}

cudaError_t bind_multicast_memory(std::uint64_t handle, std::uint64_t offset, std::uint64_t memory,
                                  std::uint64_t memory_offset, std::uint64_t size) {
  VirtualMemory& v = virtual_memory();
  std::unique_lock lock(v.mutex);
  MulticastObject* const object = multicast_with_all_devices(v, handle, lock);
  if (!object) return refuse(cudaErrorInvalidValue, "no such multicast object");
  const unsigned* const references = references_of(v, memory);
  if (!references || *references == 0) return refuse(cudaErrorInvalidValue, "no such memory");
  MulticastBinding binding;
  binding.offset = offset;
  binding.size = size;
  binding.memory = memory;
  binding.memory_offset = memory_offset;
  return bind_memory(v, *object, binding);
}

cudaError_t bind_multicast_address(std::uint64_t handle, std::uint64_t offset, std::uint64_t address,
                                   std::uint64_t size) {
  VirtualMemory& v = virtual_memory();
  std::unique_lock lock(v.mutex);
  MulticastObject* const object = multicast_with_all_devices(v, handle, lock);
  if (!object) return refuse(cudaErrorInvalidValue, "no such multicast object");
  if (!in_units(address)) return refuse(cudaErrorInvalidValue, "the address is not a multiple of the granularity");
  MulticastBinding binding;
  binding.offset = offset;
  binding.size = size;
  if (const auto mapping = mapping_at(v, address); mapping != v.mappings.end()) {
    binding.memory = mapping->second.memory;
    binding.memory_offset = address - mapping->first;
    return bind_memory(v, *object, binding);
  }
  const auto range = device::AddressSpace::instance().find(address);
  if (!range || !pool_of_block(reinterpret_cast<const void*>(range->low)))
    return refuse(cudaErrorInvalidValue, "only memory from cuMemCreate and cudaMallocAsync can be bound");
  if (size > range->high - address) return refuse(cudaErrorInvalidValue, "the range goes past the end of the memory");
  binding.device = range->device;
  binding.address = address;
  return bind(v, *object, binding);
}

cudaError_t unbind_multicast(std::uint64_t handle, int device, std::uint64_t offset, std::uint64_t size) {
  if (!valid_device(device)) return cudaErrorInvalidDevice;
  Executor::instance().wait_all();
  VirtualMemory& v = virtual_memory();
  const std::lock_guard lock(v.mutex);
  MulticastObject* const object = find_multicast(v, handle);
  if (!object) return refuse(cudaErrorInvalidValue, "no such multicast object");
  const auto found = std::find_if(object->bindings.begin(), object->bindings.end(), [&](const MulticastBinding& b) {
    return b.device == device && b.offset == offset && b.size == size;
  });
  if (found == object->bindings.end())
    return refuse(cudaErrorInvalidValue, "offset and size must be those of a call that bound memory of this GPU");
  MulticastBinding binding = *found;
  object->bindings.erase(found);
  update_multicasts(v);
  remove_binding(v, binding);
  return cudaSuccess;
}

}  // namespace warpgrind::semantics
