// The line of the user's own source that a call into the runtime came from.
#pragma once

#include <string>
#include <vector>

#include "base/host_stack.h"
#include "jit/host_code.h"
#include "results/finding.h"

namespace warpgrind::checkers {

// The innermost place in the user's own source: not in the stub that nvcc makes of `kernel` (its mangled name; empty:
// no launch), nor in the inline wrappers of CUDA's headers. line 0: without debug information.
jit::HostPlace user_place(const std::vector<const void*>& callers, const std::string& kernel = {});

// That call, as one that takes part in a finding. Its function is named where there is no line, or always.
results::FindingAccess host_access(const HostStack& stack, bool always_function = false);

// "cudaMalloc at main.cu:31", "cudaMalloc in setup()" without a line, "cudaMalloc" where nothing is known.
std::string describe(const HostStack& stack, const std::string& kernel = {});

}  // namespace warpgrind::checkers
