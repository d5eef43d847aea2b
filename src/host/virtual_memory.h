// Virtual memory management: addresses, memory, and what is mapped where, each by itself. No context owns any of it.
#pragma once

#include <cstdint>
#include <optional>

#include "host/types.h"

namespace warpgrind::host {

// What sizes and addresses of mappings are multiples of: the pages of a GPU.
inline constexpr std::uint64_t kMappingGranularity = std::uint64_t{2} << 20;

// wish: where they should begin; 0 or what is taken: anywhere. alignment: 0 or a power of two.
cudaError_t reserve_addresses(std::uint64_t* out, std::uint64_t size, std::uint64_t alignment, std::uint64_t wish);
// All that one call reserved, with nothing mapped into it.
cudaError_t free_addresses(std::uint64_t address, std::uint64_t size);

// Handles of memory are numbers. It is freed when each reference is released and nothing of it is mapped.
// shareable: other processes may have it, by a file descriptor.
cudaError_t create_memory(std::uint64_t* handle, std::uint64_t size, int device, bool shareable = false);
// The descriptor is the caller's. cudaErrorInvalidValue: the memory is not shareable.
cudaError_t export_memory(int* descriptor, std::uint64_t handle);
cudaError_t import_memory(std::uint64_t* handle, int descriptor);
cudaError_t release_memory(std::uint64_t handle);
cudaError_t retain_memory(std::uint64_t* handle, std::uint64_t address);  // of what is mapped there
cudaError_t device_of_memory(int* device, bool* shareable, std::uint64_t handle);
bool is_shareable(std::uint64_t address);  // what is mapped there

// Kernels may not use it before set_access().
// Of memory nothing but the whole: else cudaErrorNotSupported.
cudaError_t map_memory(std::uint64_t address, std::uint64_t size, std::uint64_t offset, std::uint64_t handle);
// No part of a mapping, but what has none may be between them; waits for what may still use them.
cudaError_t unmap_memory(std::uint64_t address, std::uint64_t size);
struct MappedPlace {
  std::uint64_t low = 0, high = 0;                    // of the mapping
  std::uint64_t reserved_low = 0, reserved_high = 0;  // what one call reserved around it
};
std::optional<MappedPlace> mapped_place(std::uint64_t address);  // nullopt: nothing is mapped there
cudaError_t set_access(std::uint64_t address, std::uint64_t size, const cudaMemAccessDesc* list, std::size_t count);
cudaError_t get_access(cudaMemAccessFlags* flags, const cudaMemLocation& of, std::uint64_t address);

}  // namespace warpgrind::host
