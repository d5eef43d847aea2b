// Encoding of an atomic operation between machine code and the device (wg_atomic).
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

// 32-bit code: operation, operand type, and whether the PTX text uses the same address for all lanes. (ptxas then lets
// one lane do a 32-bit integer operation for the warp, and that is counted.)
inline constexpr std::uint32_t kAtomicOneAddress = 1u << 16;
inline constexpr std::uint32_t atomic_code(AtomicOperation op, ptx::ScalarType type, bool one_address = false) {
  return static_cast<std::uint32_t>(op) | static_cast<std::uint32_t>(type) << 8 |
         (one_address ? kAtomicOneAddress : 0u);
}

}  // namespace warpgrind::jit

// Performs the operation lane by lane in ascending order. addresses: generic or of the site's space; b, c: operands of
// 32 lanes; out: the old values, or null. Vector forms have consecutive elements: element e of lane l is at
// addresses[l] + e*bytes.
extern "C" void wg_atomic(void* context, std::uint32_t site, std::uint32_t code, const std::uint64_t* addresses,
                          std::uint32_t mask, const void* b, const void* c, void* out);
