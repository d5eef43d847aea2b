// What the libraries that run on the host (src/libraries) use of the runtime: a call of theirs is a piece of work of a
// stream, like a kernel. It is issued in order, may become a node of a graph that is being captured, has its place on
// the virtual timeline, and is a row of the profile. Functions have C names, as they cross from one shared library into
// another; the types are those of one build.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "timing/library_estimate.h"

namespace warpgrind::host {

// Given to the call when its stream has come to it. Each of its operands is asked for before it is touched; an access
// to what is no memory of the GPU ends the call and breaks the context, as such an access of a kernel does.
class LibraryRun {
 public:
  virtual ~LibraryRun() = default;
  // name: of the argument, as the documentation has it. Nothing to access (bytes = 0) is right with any address.
  virtual bool reads(const char* name, const void* at, std::size_t bytes) = 0;
  virtual bool writes(const char* name, void* at, std::size_t bytes) = 0;
  // The call cannot be carried out, for a reason of ours: said, and the run is not complete.
  virtual void fail(const std::string& why) = 0;
};

struct LibraryCall {
  std::string function;      // "cublasSgemm"
  std::string arguments;     // "512 x 512 x 512"
  const char* by = "";       // "OpenBLAS"
  timing::LibraryWork work;  // for the estimate of its time
  std::function<void(LibraryRun&)> run;
};

using LibraryCallRef = std::shared_ptr<const LibraryCall>;

enum class LibraryIssue : std::uint8_t {
  done,
  refused,       // an error of the runtime: the stream is none, the context is broken
  not_captured,  // the host must wait for its result, which a capture does not allow
};

}  // namespace warpgrind::host

extern "C" {
// stream: a cudaStream_t. host_waits: comes back when the call is done (its result goes to host memory).
warpgrind::host::LibraryIssue warpgrind_library_issue(const warpgrind::host::LibraryCallRef* call, void* stream,
                                                      bool host_waits);
// Whether kernels can reach the address: memory of a GPU, managed memory, or pinned memory of the host.
bool warpgrind_library_reachable(const void* address);
// Whether the stream is one (the null stream is).
bool warpgrind_library_stream(void* stream);
// The program uses the library: said once.
void warpgrind_library_begin(const char* library, const char* by);
// Something the program asked of a library is missing here: said once, and the run is not complete.
void warpgrind_library_missing(const char* what);
}
