// What every function of the driver API begins and ends with, and the contexts behind it.
//
//   CUresult cuX(...) { return driver([&]() -> CUresult { ...; return CUDA_SUCCESS; }); }
//
// Functions are C++ functions of this namespace with the names of the ABI's symbols (functions.h declares them from the
// table); libcuda.so.1 jumps to them through the array of entries.h.
#pragma once

#include <atomic>
#include <string>

#include "cuda/api_types.h"
#include "cuda/functions.h"
#include "host/state.h"

namespace warpgrind::cuda {

// A context of the driver API. Those of one device share what the runtime keeps for that device: memory, streams,
// limits, a kernel's fault. Handles stay valid as such for ever: a destroyed context is known to be one. Its memory
// goes with it; what else was made under it is not freed yet, but when the process ends.
// A primary one comes to life again with the same handle: it is alive from when somebody retains it, or the runtime
// uses its device, until the last one who retains it lets go and the runtime has reset the device, or until
// cuDevicePrimaryCtxReset.
struct Context {
  int device = 0;
  bool primary = false;
  std::uint64_t id = 0;
  std::atomic<unsigned> flags{0};  // CUctx_flags
  std::atomic<int> uses{0};        // primary: how often it is retained; others: cuCtxAttach
  std::atomic<bool> alive{true};   // not destroyed; of primary ones is_alive() knows
};
bool is_alive(const Context& context);

// The one of the device; made at the first question.
Context& primary_context(int device);
Context& create_context(int device, unsigned flags);
// CUDA_SUCCESS, CUDA_ERROR_CONTEXT_IS_DESTROYED, or CUDA_ERROR_INVALID_CONTEXT for what is no context.
CUresult check(const Context* context);

// The calling thread's stack of contexts. The runtime's current device and the top of the stack go together: who makes
// a context current makes its device the runtime's, and cudaSetDevice replaces the top by that device's primary
// context.
Context* current_context();  // null: none
void push_context(Context& context);
Context* pop_context();                  // null: there was none
void replace_context(Context* context);  // cuCtxSetCurrent; null: pops

// cuInit was called, or the runtime, which does so by itself.
bool initialized();
void set_initialized();

// The runtime's error as the driver API has it. Numbers are the same but for a few that only the runtime knows.
CUresult driver_error(cudaError_t error);
const char* error_name(CUresult error);  // null: no such error
const char* error_text(CUresult error);

// living_context: none need be current, but one that is must not be destroyed.
enum class Needs { nothing, initialization, living_context, context };
// Errors of the place a function is called from, and of what it needs.
CUresult enter(Needs needs);

// Calls of the driver API do not show in cudaGetLastError.
class KeepsLastError {
 public:
  KeepsLastError() : thread_(host::thread_state()), before_(thread_.last_error) {}
  ~KeepsLastError() { thread_.last_error = before_; }
  KeepsLastError(const KeepsLastError&) = delete;
  KeepsLastError& operator=(const KeepsLastError&) = delete;

 private:
  host::ThreadState& thread_;
  cudaError_t before_;
};

// What every function ends with: an error that the program drops is a finding at the end of the run. `call`, here and
// below: the name of the entry point. A helper between the two hands its own on.
CUresult leave(CUresult error, const char* call);

// After a kernel's fault that error, whatever the body does.
template <Needs needs, class Body>
CUresult driver_unless_broken(Body&& body, const char* call = __builtin_FUNCTION()) {
  if (const CUresult error = enter(needs); error != CUDA_SUCCESS) return leave(error, call);
  const host::CallScope scope(call);
  const KeepsLastError keeps;
  const CUresult sticky = driver_error(host::sticky_error());
  if (sticky == CUDA_SUCCESS) return leave(body(), call);
  if (host::goes_on_after_fault()) body();
  host::the_session().returned_sticky_error(error_name(sticky));
  return sticky;
}
// For functions of the current context: with none CUDA_ERROR_INVALID_CONTEXT.
template <class Body>
CUresult driver(Body&& body, const char* call = __builtin_FUNCTION()) {
  return driver_unless_broken<Needs::context>(body, call);
}
// For functions of what has a handle (modules, kernels, streams that the program made), which is of a context by
// itself: none need be current.
template <class Body>
CUresult driver_of_handle(Body&& body, const char* call = __builtin_FUNCTION()) {
  return driver_unless_broken<Needs::initialization>(body, call);
}
// ... where a null handle is refused before anything else is looked at, initialisation included (events, functions).
template <class Handle, class Body>
CUresult driver_of(const Handle* handle, Body&& body, const char* call = __builtin_FUNCTION()) {
  return handle ? driver_of_handle(body, call) : leave(CUDA_ERROR_INVALID_HANDLE, call);
}
// For functions of a stream: the default ones are those of the current context.
template <class Body>
CUresult driver_in(CUstream stream, Body&& body, const char* call = __builtin_FUNCTION()) {
  const bool is_default = !stream || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD;
  return is_default ? driver(body, call) : driver_of_handle(body, call);
}
// For functions of devices and of contexts by their handle.
template <Needs needs = Needs::initialization, class Body>
CUresult driver_without_context(Body&& body, const char* call = __builtin_FUNCTION()) {
  if (const CUresult error = enter(needs); error != CUDA_SUCCESS) return leave(error, call);
  const host::CallScope scope(call);
  const KeepsLastError keeps;
  return leave(body(), call);
}
// For functions that work before cuInit.
template <class Body>
CUresult driver_always(Body&& body, const char* call = __builtin_FUNCTION()) {
  if (const CUresult error = enter(Needs::nothing); error != CUDA_SUCCESS) return leave(error, call);
  const host::CallScope scope(call);
  return leave(body(), call);
}

// CUDA_ERROR_NOT_SUPPORTED, named once on stderr.
CUresult not_supported(const std::string& what);

inline bool valid_device(CUdevice device) {
  return host::valid_device(device);
}

}  // namespace warpgrind::cuda
