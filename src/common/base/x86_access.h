// Number of bytes that an x86-64 instruction accesses in memory.
#pragma once

#include <array>
#include <cstdint>

namespace warpgrind {

// code: an instruction that reads memory, or writes it (`write`). It is read byte by byte, to its end. Neither
// allocates nor locks, so a signal handler may call it. It must not be the first call, which the loader has to resolve.
//
// The result is never too large: string instructions, gathers, scatters and vector instructions under a mask count as
// one element. It is 1 for instructions that the decoder does not know, and for those of XSAVE.
unsigned access_bytes(const std::uint8_t* code, bool write);

// General registers in the order of their numbers: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15.
using X86Registers = std::array<std::uint64_t, 16>;

// Likewise, the bytes from `address` on: an address in the access, from which the processor could not go on. An access
// across two pages that faults at the second one began before. `registers`: their values before the instruction.
unsigned access_bytes_from(std::uint64_t address, const std::uint8_t* code, bool write, const X86Registers& registers);

}  // namespace warpgrind
