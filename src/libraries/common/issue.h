// A call of a library as work of a stream.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <string>

#include "host/library_calls.h"

namespace warpgrind::libraries {

using host::LibraryIssue;
using host::LibraryRun;
using timing::LibraryArithmetic;
using timing::LibraryFamily;
using timing::LibraryWork;

struct CallName {
  const char* function = "";  // as the documentation has it: "cublasSgemm"
  std::string arguments;      // "512 x 512 x 512"
};

// by: what does the work here. host_waits: comes back when it is done.
LibraryIssue issue(CallName name, const char* by, const LibraryWork& work, cudaStream_t stream, bool host_waits,
                   std::function<void(LibraryRun&)> run);

}  // namespace warpgrind::libraries
