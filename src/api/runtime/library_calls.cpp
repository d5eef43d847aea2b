// Entry points that our host libraries (cuBLAS and others) call in libcudart.so.13.
#include "semantics/library_calls.h"

#include <fmt/format.h>

#include "device/memory/address_space.h"
#include "runtime/call.h"
#include "semantics/events.h"
#include "semantics/operation.h"
#include "semantics/streams.h"

namespace warpgrind::runtime {

extern "C" {

WG_API LibraryIssue warpgrind_library_issue(const LibraryCallRef* call, void* stream, bool host_waits) {
  LibraryIssue result = LibraryIssue::done;
  const cudaError_t error = api([&]() -> cudaError_t {
    const StreamRef target = resolve(static_cast<cudaStream_t>(stream));
    if (!target) return cudaErrorInvalidResourceHandle;
    const cudaError_t issued = submit(target, LibraryOperation{*call}, host_waits);
    if (issued == cudaErrorStreamCaptureUnsupported) result = LibraryIssue::not_captured;
    return issued;
  });
  return error != cudaSuccess && result == LibraryIssue::done ? LibraryIssue::refused : result;
}

WG_API bool warpgrind_library_reachable(const void* address) {
  const Memory memory = place_of(address).memory;
  return memory == Memory::device || memory == Memory::managed || memory == Memory::pinned;
}

WG_API bool warpgrind_library_stream(void* stream) {
  return resolve(static_cast<cudaStream_t>(stream)) != nullptr;
}

WG_API int warpgrind_library_stream_device(void* stream) {
  const StreamRef found = resolve(static_cast<cudaStream_t>(stream));
  return found ? found->device : -1;
}

WG_API bool warpgrind_library_order(void* before, void* after) {
  return api([&]() -> cudaError_t {
           cudaEvent_t event = nullptr;
           if (const cudaError_t error = create_event(&event, cudaEventDisableTiming)) return error;
           cudaError_t error = record_event(event, static_cast<cudaStream_t>(before), 0);
           if (!error) error = wait_event(static_cast<cudaStream_t>(after), event, 0);
           destroy_event(event);
           return error;
         }) == cudaSuccess;
}

WG_API void warpgrind_library_say(const char* text) {
  session::messages().say_once(text);
}

WG_API double warpgrind_library_estimate(const timing::LibraryWork* work) {
  return timing::estimate_library(session::model(), *work).ns;
}

WG_API void warpgrind_library_begin(const char* library, const char* by) {
  if (session::options().quiet) return;
  session::messages().say_once(fmt::format(
      "{} runs on the host, with {}: the profile has a row for each of its calls, but nothing inside them is counted",
      library, by));
}

WG_API void warpgrind_library_missing(const char* what) {
  session::messages().problem(Error{ErrorKind::unsupported, what, ""});
}

}  // extern "C"

}  // namespace warpgrind::runtime
