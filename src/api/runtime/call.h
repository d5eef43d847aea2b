// Common prologue and epilogue of all runtime API entry points:
//
//   extern "C" WG_API cudaError_t cudaX(...) { return api([&] { ...; return cudaSuccess; }); }
//
// api() returns a sticky error before the body runs, and records the last error of the host thread. `call` is the name
// of the entry point. Its default is the function that calls api(), so a helper must pass on the `call` it received.
#pragma once

#include "runtime/api.h"
#include "semantics/call_scope.h"
#include "semantics/graph.h"
#include "semantics/state.h"

namespace warpgrind::runtime {

using namespace semantics;

template <class Body>
cudaError_t api(Body&& body, const char* call = __builtin_FUNCTION()) {
  if (cudaError_t error = enter_call(); error != cudaSuccess) return thread_state().last_error = error;
  use_runtime();
  const CallScope scope(call);
  const cudaError_t sticky = sticky_error();
  if (sticky == cudaSuccess) return set_last_error(body());
  // The program gets the sticky error; an error of this call itself is noted as well.
  if (goes_on_after_fault())
    if (const cudaError_t error = body(); error != sticky) set_last_error(error);
  return set_last_error(sticky);
}
// For calls that also work in a broken context (device queries, error texts).
template <class Body>
cudaError_t api_without_context(Body&& body, const char* call = __builtin_FUNCTION()) {
  if (cudaError_t error = enter_call(); error != cudaSuccess) return thread_state().last_error = error;
  const CallScope scope(call);
  return set_last_error(body());
}

// For entry points that work on graphs: api() under the lock of graphs.
template <class Body>
cudaError_t graph_api(Body&& body, const char* call = __builtin_FUNCTION()) {
  return api(
      [&] {
        const GraphsLock lock;
        return body();
      },
      call);
}

// Defines the twin of an entry point (name_ptds, name_ptsz) for programs compiled with per-thread default streams.
#define WG_TWIN(result, name, twin, parameters, arguments) \
  WG_API result name##twin parameters {                    \
    NullStreamIsOwn scope;                                 \
    return name arguments;                                 \
  }

// Body of an unsupported function (WG_UNSUPPORTED of warpgrind/runtime_functions.inc).
cudaError_t unsupported_call(const char* name);

}  // namespace warpgrind::runtime
