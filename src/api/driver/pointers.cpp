// Unified addressing of the driver API: attributes of pointers, and owners of allocations.
#include <cstring>
#include <map>
#include <mutex>

#include "driver/addresses.h"
#include "semantics/memory.h"
#include "semantics/pools.h"
#include "semantics/shared_memory.h"
#include "semantics/virtual_memory.h"

namespace warpgrind::driver {

namespace {

using semantics::Memory;
using semantics::Place;

struct Owned {
  Context* by = nullptr;
  CUdeviceptr memory = 0;
};
// State of allocations, by their ids. Ids are never reused, so entries of freed memory do no harm.
struct Remembered {
  std::mutex mutex;
  std::map<std::uint64_t, Owned> owned;
  std::map<std::uint64_t, unsigned> synchronous;  // CU_POINTER_ATTRIBUTE_SYNC_MEMOPS
};
Remembered& remembered() {
  static auto* all = new Remembered;
  return *all;
}

bool known(const Place& place) {
  return place.memory != Memory::pageable && place.memory != Memory::invalid;
}

template <class T>
CUresult give(void* data, T value) {
  std::memcpy(data, &value, sizeof value);
  return CUDA_SUCCESS;
}

// Context that allocated the memory. Memory from pools and mapped memory have no owner.
Context* owner_of(const Place& place) {
  {
    const std::lock_guard lock(remembered().mutex);
    const auto found = remembered().owned.find(place.id);
    if (found != remembered().owned.end()) return found->second.by;
  }
  if (semantics::pool_of_block(pointer(place.low)) || semantics::mapped_place(place.low)) return nullptr;
  return &primary_context(place.device);
}

unsigned synchronous(const Place& place) {
  const std::lock_guard lock(remembered().mutex);
  const auto found = remembered().synchronous.find(place.id);
  return found == remembered().synchronous.end() ? place.memory != Memory::pinned : found->second;
}

// Mapped and reserved range of an address. Only virtual memory management has a reserved range larger than the mapping;
// for other memory both are the allocation.
semantics::MappedPlace mapping_of(const Place& place, CUdeviceptr at) {
  return semantics::mapped_place(at).value_or(semantics::MappedPlace{place.low, place.high, place.low, place.high});
}

CUmemAllocationHandleType handle_types(const Place& place) {
  const semantics::MemPool* const pool = semantics::pool_of_block(pointer(place.low));
  const bool shareable = pool ? pool->file >= 0 : semantics::is_shareable(place.low);
  return shareable ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR : CU_MEM_HANDLE_TYPE_NONE;
}

// Booleans are stored in four bytes.
CUresult attribute_of(const Place& place, CUdeviceptr at, CUpointer_attribute attribute, void* data) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return give(data, owner_of(place));
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return give(data, place.memory == Memory::pinned ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return give(data, at);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      return place.memory == Memory::device ? CUDA_ERROR_INVALID_VALUE : give(data, at);
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS:
      if (place.memory == Memory::pinned) return CUDA_ERROR_INVALID_VALUE;
      return not_supported("CU_POINTER_ATTRIBUTE_P2P_TOKENS");
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      return give(data, synchronous(place));
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
      return give(data, static_cast<unsigned long long>(place.id));
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return give(data, unsigned{place.memory == Memory::managed});
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return give(data, place.device);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return give(data, CUdeviceptr{mapping_of(place, at).reserved_low});
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: {
      const semantics::MappedPlace mapped = mapping_of(place, at);
      return give(data, std::size_t{mapped.reserved_high - mapped.reserved_low});
    }
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
      return give(data, CUdeviceptr{mapping_of(place, at).low});
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE: {
      const semantics::MappedPlace mapped = mapping_of(place, at);
      return give(data, std::size_t{mapped.high - mapped.low});
    }
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return give(data, 1u);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      return give(data, std::uint64_t{handle_types(place)});
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      return give(data, unsigned{semantics::is_exportable(place)});
    // No other device on the bus can access this memory.
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
      return give(data, 0u);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return give(data,
                  place.read_only ? CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READ : CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return give(data, semantics::pool_of_block(pointer(place.low)));
  }
  return CUDA_ERROR_INVALID_VALUE;
}

// Values of cuPointerGetAttributes for a pointer that CUDA does not know: zero or invalid, without an error.
CUresult no_attribute(CUpointer_attribute attribute, void* data) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return give(data, std::uint64_t{0});
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return give(data, CU_DEVICE_INVALID);
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS:
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
      return give(data, 0u);
  }
  return CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

CUresult allocated(cudaError_t error, void* memory, CUdeviceptr* out) {
  if (error != cudaSuccess) return driver_error(error);
  *out = address(memory);
  Context* const context = current_context();
  const std::lock_guard lock(remembered().mutex);
  remembered().owned[semantics::place_of(memory).id] = {context, *out};
  return CUDA_SUCCESS;
}

void forget_owner(const void* memory) {
  const std::lock_guard lock(remembered().mutex);
  if (remembered().owned.empty()) return;
  const Place place = semantics::place_of(memory);
  if (place.low == address(memory)) remembered().owned.erase(place.id);
}

void free_memory_of(const Context& context) {
  std::map<std::uint64_t, Owned> owned;
  {
    const std::lock_guard lock(remembered().mutex);
    std::erase_if(remembered().owned, [&](const auto& one) {
      if (one.second.by != &context) return false;
      owned.insert(one);
      return true;
    });
  }
  for (const auto& [id, one] : owned) {
    const Place place = semantics::place_of(pointer(one.memory));
    if (place.id != id) continue;  // the runtime freed it; another allocation may have this address
    if (place.memory == Memory::pinned)
      semantics::free_host(pointer(one.memory));
    else
      semantics::free_device(pointer(one.memory), "cuCtxDestroy");
  }
}

// Works without a current context.
CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr of) {
  return driver_without_context([&]() -> CUresult {
    const Place place = semantics::place_of(pointer(of));
    if (!data || !known(place)) return CUDA_ERROR_INVALID_VALUE;
    return attribute_of(place, of, attribute, data);
  });
}

CUresult cuPointerGetAttributes(unsigned int count, CUpointer_attribute* attributes, void** data, CUdeviceptr of) {
  return driver_without_context([&]() -> CUresult {
    if (!attributes || !data || count == 0) return CUDA_ERROR_INVALID_VALUE;
    const Place place = semantics::place_of(pointer(of));
    for (unsigned i = 0; i < count; i++) {
      if (!data[i]) return CUDA_ERROR_INVALID_VALUE;
      const bool none =
          !known(place) || (attributes[i] == CU_POINTER_ATTRIBUTE_HOST_POINTER && place.memory == Memory::device);
      const CUresult error =
          none ? no_attribute(attributes[i], data[i]) : attribute_of(place, of, attributes[i], data[i]);
      if (error != CUDA_SUCCESS) return error;
    }
    return CUDA_SUCCESS;
  });
}

// SYNC_MEMOPS is only stored: as far as a program can see, synchronous copies always are synchronous here.
CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute attribute, CUdeviceptr of) {
  return driver_without_context([&]() -> CUresult {
    if (!value || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS) return CUDA_ERROR_INVALID_VALUE;
    const Place place = semantics::place_of(pointer(of));
    if (!known(place)) return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard lock(remembered().mutex);
    remembered().synchronous[place.id] = *static_cast<const unsigned*>(value) != 0;
    return CUDA_SUCCESS;
  });
}

}  // namespace warpgrind::driver
