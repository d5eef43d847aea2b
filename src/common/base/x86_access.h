// Number of bytes that an x86-64 instruction accesses in memory.
#pragma once

#include <cstdint>

namespace warpgrind {

// code: an instruction that reads memory, or writes it (`write`). It is read byte by byte, to its end. Neither
// allocates nor locks, so a signal handler may call it. It must not be the first call, which the loader has to resolve.
//
// The result is never too large: string instructions, gathers, scatters and vector instructions under a mask count as
// one element. It is 1 for instructions that the decoder does not know, and for those of XSAVE.
unsigned access_bytes(const std::uint8_t* code, bool write);

}  // namespace warpgrind
