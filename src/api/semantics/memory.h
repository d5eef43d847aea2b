// Device, managed and pinned memory of the program, and queries about pointers.
#pragma once

#include "semantics/operation.h"

namespace warpgrind::semantics {

inline std::uint64_t address_of(const void* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}

// ---- Pinned memory: allocated here, or registered. flags: those of cudaHostAlloc.
cudaError_t allocate_host(void** out, std::size_t size, unsigned flags);
cudaError_t free_host(void* pointer);
cudaError_t register_host(void* pointer, std::size_t size, unsigned flags);
cudaError_t unregister_host(void* pointer);
// Flags of the pinned block that holds an address; false: there is no such block. With unified addressing, all pinned
// memory is portable and mapped, at its own address.
bool pinned_flags(const void* pointer, unsigned* flags);

// ---- Device memory. A size of 0 gives a null pointer.
// Row pitch in bytes: `width` rounded up to the texture alignment, as the driver does. False: it overflows.
bool pitch_of(std::size_t width, std::size_t& pitch);
cudaError_t allocate_box(const cudaExtent& extent, void** out, std::size_t* pitch);
cudaError_t allocate_managed(void** out, std::size_t size, unsigned flags);  // cudaMemAttachGlobal, cudaMemAttachHost
// Waits for work that may still use the memory. `by`: the API function, for observers of invalid frees.
cudaError_t free_device(void* pointer, const char* by);
// True: `start` begins a live allocation of this process (not a variable, not a mapping).
bool is_allocated(const void* start);

// ---- Managed memory. There is one physical memory, so that hints move no data; their arguments are checked as
// documented. A prefetch takes virtual time (session/managed_memory.h).
cudaError_t advise_managed(const void* pointer, std::size_t count, cudaMemoryAdvise what, cudaMemLocation location);
cudaError_t check_prefetch(const void* pointer, std::size_t count, cudaMemLocation location);
cudaError_t prefetch_managed(const void* pointer, std::size_t count, cudaMemLocation location, cudaStream_t stream);
cudaError_t managed_range_attribute(void* data, std::size_t size, cudaMemRangeAttribute attribute, const void* pointer,
                                    std::size_t count);

// ---- The runtime API's functions of the same names.
cudaError_t allocate_linear(void** out, std::size_t size);
cudaError_t allocate_pitch(void** out, std::size_t* pitch, std::size_t width, std::size_t height);
cudaError_t allocate_3d(cudaPitchedPtr* out, cudaExtent extent);
cudaError_t host_alloc(void** out, std::size_t size, unsigned flags);
cudaError_t host_get_device_pointer(void** out, void* pointer, unsigned flags);
cudaError_t host_get_flags(unsigned* flags, void* pointer);
cudaError_t mem_get_info(std::size_t* free_bytes, std::size_t* total);
cudaError_t pointer_get_attributes(cudaPointerAttributes* out, const void* pointer);
cudaError_t mem_range_get_attributes(void** data, std::size_t* sizes, cudaMemRangeAttribute* attributes,
                                     std::size_t attribute_count, const void* pointer, std::size_t count);
cudaError_t stream_attach_mem_async(cudaStream_t stream, unsigned flags);

}  // namespace warpgrind::semantics
