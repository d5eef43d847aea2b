// Identity of this machine's CPU, as far as it decides which machine code can run and which is best.
#pragma once

#include <string>

namespace warpgrind {

// Model, instruction sets (CPUID) and the registers that the system saves. Two CPUs have the same identity only if code
// for one is correct and good for the other.
std::string processor_identity();

}  // namespace warpgrind
