// Seccomp filter with the system calls that a boxed program may not use.
#pragma once

#include "base/result.h"

namespace warpgrind::sandbox {

// The filter in the kernel's format, in a memory file. The caller closes it.
Result<int> system_call_filter();

}  // namespace warpgrind::sandbox
