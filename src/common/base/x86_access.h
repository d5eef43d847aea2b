// Number of bytes that an x86-64 instruction accesses in memory.
#pragma once

#include <cstdint>

namespace warpgrind {

// code: an instruction with a memory operand; 15 bytes must be readable. The result is never too large: it is 1 for
// unknown instructions and where a mask decides. String instructions count as one element.
unsigned access_bytes(const std::uint8_t* code);

}  // namespace warpgrind
