// How an atomic operation is named between machine code and the device (wg_atomic).
#pragma once

#include <cstdint>

#include "ptx/types.h"

namespace warpgrind::jit {

enum class AtomicOperation : std::uint8_t {
  add,
  inc,
  dec,
  min,
  max,
  bit_and,
  bit_or,
  bit_xor,
  exchange,
  compare_and_swap
};

// One 32-bit code: operation, type of the operand, and whether the address is the same for all lanes by the program's
// text (ptxas has one lane do a 32-bit integer operation for the warp then, which is what is counted).
inline constexpr std::uint32_t kAtomicOneAddress = 1u << 16;
inline constexpr std::uint32_t atomic_code(AtomicOperation op, ptx::ScalarType type, bool one_address = false) {
  return static_cast<std::uint32_t>(op) | static_cast<std::uint32_t>(type) << 8 |
         (one_address ? kAtomicOneAddress : 0u);
}

}  // namespace warpgrind::jit

// Lanes in ascending order. addresses: generic or of the site's space; b, c: operands of 32 lanes; out: the old values,
// or null. `part` elements lie behind one another for vector forms: element e of lane l at addresses[l] + e*bytes.
extern "C" void wg_atomic(void* context, std::uint32_t site, std::uint32_t code, const std::uint64_t* addresses,
                          std::uint32_t mask, const void* b, const void* c, void* out);
