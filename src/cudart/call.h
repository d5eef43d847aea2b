// What every entry point of the runtime API begins and ends with:
//
//   extern "C" WG_API cudaError_t cudaX(...) { return api([&] { ...; return cudaSuccess; }); }
//
// api() gives a sticky error back before the body runs and keeps the last error of the host thread. `call` is the name
// of the entry point: the default argument is the function that calls api(), so a helper between the two hands its own
// `call` on.
#pragma once

#include "cudart/api.h"
#include "host/call_scope.h"
#include "host/graph.h"
#include "host/state.h"

namespace warpgrind::cudart {

using namespace host;

template <class Body>
cudaError_t api(Body&& body, const char* call = __builtin_FUNCTION()) {
  if (cudaError_t error = enter_call(); error != cudaSuccess) return thread_state().last_error = error;
  use_runtime();
  const CallScope scope(call);
  const cudaError_t sticky = sticky_error();
  if (sticky == cudaSuccess) return set_last_error(body());
  // What is wrong with this call itself is noted behind the error that the program gets.
  if (goes_on_after_fault())
    if (const cudaError_t error = body(); error != sticky) set_last_error(error);
  return set_last_error(sticky);
}
// For calls that work on a broken context too (device queries, error texts).
template <class Body>
cudaError_t api_without_context(Body&& body, const char* call = __builtin_FUNCTION()) {
  if (cudaError_t error = enter_call(); error != cudaSuccess) return thread_state().last_error = error;
  const CallScope scope(call);
  return set_last_error(body());
}

// An entry point that works with graphs.
template <class Body>
cudaError_t graph_api(Body&& body, const char* call = __builtin_FUNCTION()) {
  return api(
      [&] {
        const GraphsLock lock;
        return body();
      },
      call);
}

// The twin of an entry point for programs whose null stream is each thread's own (name_ptds, name_ptsz).
#define WG_TWIN(result, name, twin, parameters, arguments) \
  WG_API result name##twin parameters {                    \
    NullStreamIsOwn scope;                                 \
    return name arguments;                                 \
  }

// What an unsupported call (WG_UNSUPPORTED of warpgrind/runtime_functions.inc) does.
cudaError_t unsupported_call(const char* name);

}  // namespace warpgrind::cudart
