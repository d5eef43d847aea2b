// Identity of this machine's CPU, as far as it decides which machine code can run and which is best.
#pragma once

#include <string>
#include <string_view>

namespace warpgrind {

// Model, instruction sets (CPUID) and the registers that the system saves. Two CPUs have the same identity only if code
// for one is correct and good for the other.
std::string processor_identity();

// The levels of x86-64 for which kernels can be compiled ahead of the machine that runs them, by LLVM's names.
inline constexpr std::string_view kProcessorLevels[] = {"x86-64-v3", "x86-64-v4"};
// This CPU's level: v4 with AVX-512, v3 without. Empty: neither, as on CPUs that have a part of v4's AVX-512.
std::string_view processor_level();

}  // namespace warpgrind
