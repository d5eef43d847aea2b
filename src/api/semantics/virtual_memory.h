// Virtual memory management: separate address reservations, memory and mappings. No context owns any of them.
#pragma once

#include <cstdint>
#include <optional>

#include "semantics/types.h"

namespace warpgrind::semantics {

// Unit of sizes and addresses of mappings: the page size of a GPU.
inline constexpr std::uint64_t kMappingGranularity = std::uint64_t{2} << 20;

// wish: preferred start; if it is 0 or taken, any place is used. alignment: 0 or a power of two.
cudaError_t reserve_addresses(std::uint64_t* out, std::uint64_t size, std::uint64_t alignment, std::uint64_t wish);
// Frees a whole reservation, in which nothing may be mapped.
cudaError_t free_addresses(std::uint64_t address, std::uint64_t size);

// Handles of memory are numbers. The memory is freed when all references are released and no mapping uses it.
// shareable: other processes may get it through a file descriptor.
cudaError_t create_memory(std::uint64_t* handle, std::uint64_t size, int device, bool shareable = false);
// The caller owns the descriptor. cudaErrorInvalidValue: the memory is not shareable.
cudaError_t export_memory(int* descriptor, std::uint64_t handle);
cudaError_t import_memory(std::uint64_t* handle, int descriptor);
cudaError_t release_memory(std::uint64_t handle);
cudaError_t retain_memory(std::uint64_t* handle, std::uint64_t address);  // of the memory mapped there
cudaError_t device_of_memory(int* device, bool* shareable, std::uint64_t handle);
bool is_shareable(std::uint64_t address);  // true if the memory mapped there is

// Kernels may not use the mapping before set_access(). It must map the whole memory, else cudaErrorNotSupported.
cudaError_t map_memory(std::uint64_t address, std::uint64_t size, std::uint64_t offset, std::uint64_t handle);
// Removes all mappings in the range, after work that may still use them. The range must not cut a mapping; it may have
// gaps.
cudaError_t unmap_memory(std::uint64_t address, std::uint64_t size);
struct MappedPlace {
  std::uint64_t low = 0, high = 0;                    // of the mapping
  std::uint64_t reserved_low = 0, reserved_high = 0;  // the reservation around it
};
std::optional<MappedPlace> mapped_place(std::uint64_t address);  // nullopt: nothing is mapped there
cudaError_t set_access(std::uint64_t address, std::uint64_t size, const cudaMemAccessDesc* list, std::size_t count);
cudaError_t get_access(cudaMemAccessFlags* flags, const cudaMemLocation& of, std::uint64_t address);

}  // namespace warpgrind::semantics
