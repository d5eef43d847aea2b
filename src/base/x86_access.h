// How many bytes an instruction of this machine accesses in memory.
#pragma once

#include <cstdint>

namespace warpgrind {

// code: an instruction that has a memory operand, 15 bytes that can be read. At most what it accesses: 1 for what is
// not known, or depends on a mask. Of a string instruction one element.
unsigned access_bytes(const std::uint8_t* code);

}  // namespace warpgrind
