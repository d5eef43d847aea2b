// Saving and restoring the registers of lanes that stop (codegen/kernel/waiting.cpp), by a list. Scalars come first in
// the save area and take 8 or 16 bytes each. Vectors are aligned to 64 bytes; predicates take one bit a lane.
#pragma once

#include <cstdint>

namespace warpgrind::jit {

inline constexpr const char* kPutAside = "wg_put_registers_aside";
inline constexpr const char* kTakeBack = "wg_take_registers_back";

// An entry of the list: the index in the function's slot table, and the type of the value.
constexpr std::uint32_t saved_register(std::uint32_t slot, bool vector, unsigned element_bits) {
  return slot << 9 | std::uint32_t{vector} << 8 | element_bits;  // up to 128 bits
}

}  // namespace warpgrind::jit

extern "C" {
void wg_put_registers_aside(std::uint8_t* aside, void* const* slots, const std::uint32_t* list, std::uint32_t count);
void wg_take_registers_back(const void* paths, void* const* slots, const std::uint32_t* list, std::uint32_t count);
}
