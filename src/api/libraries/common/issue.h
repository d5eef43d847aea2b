// Issuing a library call as work of a stream.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <string>

#include "semantics/library_calls.h"

namespace warpgrind::libraries {

using semantics::LibraryIssue;
using semantics::LibraryRun;
using timing::LibraryArithmetic;
using timing::LibraryFamily;
using timing::LibraryWork;

struct CallName {
  const char* function = "";  // documented name: "cublasSgemm"
  std::string arguments;      // "512 x 512 x 512"
};

// by: the library that does the computation ("OpenBLAS"). host_waits: return only when the work has ended.
LibraryIssue issue(CallName name, const char* by, const LibraryWork& work, cudaStream_t stream, bool host_waits,
                   std::function<void(LibraryRun&)> run);

}  // namespace warpgrind::libraries
