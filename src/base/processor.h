// The CPU that this process runs on, as far as it decides which machine code can run and which is best.
#pragma once

#include <string>

namespace warpgrind {

// Model and instruction sets, as CPUID gives them, and which registers the system saves. Of another CPU it may be the
// same only if code for one is right and good for the other.
std::string processor_identity();

}  // namespace warpgrind
