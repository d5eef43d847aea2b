// Issuing a library call as work of a stream.
#include "libraries/common/issue.h"

#include <utility>

namespace warpgrind::libraries {

LibraryIssue issue(CallName name, const char* by, const LibraryWork& work, cudaStream_t stream, bool host_waits,
                   std::function<void(LibraryRun&)> run) {
  auto call = std::make_shared<semantics::LibraryCall>();
  call->function = name.function;
  call->arguments = std::move(name.arguments);
  call->by = by;
  call->work = work;
  call->run = std::move(run);
  const semantics::LibraryCallRef reference = std::move(call);
  return warpgrind_library_issue(&reference, stream, host_waits);
}

}  // namespace warpgrind::libraries
