// Source line of the user's code that called the runtime.
#pragma once

#include <string>
#include <vector>

#include "base/host_stack.h"
#include "jit/host_code.h"
#include "results/finding.h"

namespace warpgrind::checkers {

// Innermost place in the user's own source. It skips the inline wrappers of CUDA's headers, and the stub that nvcc
// generates for `kernel` (mangled name; empty: not a launch). line 0: no debug information.
jit::HostPlace user_place(const std::vector<const void*>& callers, const std::string& kernel = {});

// The callers from the first one on that user_place() would not skip as a whole.
std::vector<const void*> user_callers(const std::vector<const void*>& callers, const std::string& kernel = {});

// The call as an access of a finding. Its function is named if there is no line, or always with always_function.
results::FindingAccess host_access(const HostStack& stack, bool always_function = false);

// "cudaMalloc at main.cu:31"; without a line "cudaMalloc in setup()"; with neither "cudaMalloc".
std::string describe(const HostStack& stack, const std::string& kernel = {});

}  // namespace warpgrind::checkers
