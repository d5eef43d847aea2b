// Which system calls a boxed program may not use.
#pragma once

#include "base/result.h"

namespace warpgrind::sandbox {

// The filter as the kernel takes it, in a file in memory; the caller closes it.
Result<int> system_call_filter();

}  // namespace warpgrind::sandbox
