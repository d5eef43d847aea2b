// Common prologue and epilogue of all driver API functions, and the contexts of the driver API.
//
//   CUresult cuX(...) { return driver([&]() -> CUresult { ...; return CUDA_SUCCESS; }); }
//
// The functions are C++ functions of this namespace, named like the ABI's symbols. functions.h declares them from the
// table; libcuda.so.1 jumps to them through the array of entries.h.
#pragma once

#include <atomic>
#include <string>

#include "driver/api_types.h"
#include "driver/functions.h"
#include "semantics/state.h"

namespace warpgrind::driver {

// A context of the driver API. All contexts of a device share the runtime's state of that device: memory, streams,
// limits, a kernel's fault. Context objects are never deleted, so that the handle of a destroyed context is recognised.
// Destroying a context frees its memory; its other objects stay until the process ends.
//
// A primary context keeps its handle when it becomes active again. It becomes active when the program retains it or the
// runtime uses its device. It ends at the last release, unless the runtime uses the device, and at cudaDeviceReset or
// cuDevicePrimaryCtxReset.
struct Context {
  int device = 0;
  bool primary = false;
  std::uint64_t id = 0;
  std::atomic<unsigned> flags{0};  // CUctx_flags
  std::atomic<int> uses{0};        // primary: how often it is retained; others: attachments (cuCtxAttach)
  std::atomic<bool> alive{true};   // not destroyed; for primary contexts call is_alive() instead
};
bool is_alive(const Context& context);

// The primary context of a device. The first call creates those of all devices.
Context& primary_context(int device);
Context& create_context(int device, unsigned flags);
// CUDA_SUCCESS, CUDA_ERROR_CONTEXT_IS_DESTROYED, or CUDA_ERROR_INVALID_CONTEXT if the pointer is not a context.
CUresult check(const Context* context);

// The calling thread's stack of contexts. Its top and the runtime's current device always match: making a context
// current selects its device for the runtime, and cudaSetDevice replaces the top by that device's primary context.
Context* current_context();  // null: the stack is empty
void push_context(Context& context);
Context* pop_context();                  // null: the stack was empty
void replace_context(Context* context);  // cuCtxSetCurrent; null: pops

// True after cuInit, or after the first use of the runtime, which initialises the driver itself.
bool initialized();
void set_initialized();

// Converts the runtime's error to the driver API's. Both have the same numbers, except for a few that only the runtime
// has.
CUresult driver_error(cudaError_t error);
const char* error_name(CUresult error);  // null: no such error
const char* error_text(CUresult error);

// The state that a function requires. living_context: no context need be current, but a current one must not be
// destroyed.
enum class Needs { nothing, initialization, living_context, context };
// Error if the call comes from a forbidden place (a forked child, a host function) or if `needs` is not met.
CUresult enter(Needs needs);

// Restores the thread's last error at the end of its scope: errors of driver calls do not show in cudaGetLastError.
class KeepsLastError {
 public:
  KeepsLastError() : thread_(semantics::thread_state()), before_(thread_.last_error) {}
  ~KeepsLastError() { thread_.last_error = before_; }
  KeepsLastError(const KeepsLastError&) = delete;
  KeepsLastError& operator=(const KeepsLastError&) = delete;

 private:
  semantics::ThreadState& thread_;
  cudaError_t before_;
};

// Ends every function: notes the error, so that an error which the program ignores becomes a finding at the end of the
// run. `call`, here and below, is the name of the entry point; a helper passes on the `call` that it received.
CUresult leave(CUresult error, const char* call);

// After a kernel's fault, returns the fault's error whatever the body returns.
template <Needs needs, class Body>
CUresult driver_unless_broken(Body&& body, const char* call = __builtin_FUNCTION()) {
  if (const CUresult error = enter(needs); error != CUDA_SUCCESS) return leave(error, call);
  const semantics::CallScope scope(call);
  const KeepsLastError keeps;
  const CUresult sticky = driver_error(semantics::sticky_error());
  if (sticky == CUDA_SUCCESS) return leave(body(), call);
  if (semantics::goes_on_after_fault()) body();
  session::after_fault().returned(error_name(sticky));
  return sticky;
}
// For functions that work on the current context. CUDA_ERROR_INVALID_CONTEXT if there is none.
template <class Body>
CUresult driver(Body&& body, const char* call = __builtin_FUNCTION()) {
  return driver_unless_broken<Needs::context>(body, call);
}
// For functions of an object with a handle (module, kernel, stream that the program created). The object knows its
// context, so none need be current.
template <class Body>
CUresult driver_of_handle(Body&& body, const char* call = __builtin_FUNCTION()) {
  return driver_unless_broken<Needs::initialization>(body, call);
}
// Like driver_of_handle(), for events and functions: refuses a null handle before any other check, initialisation
// included.
template <class Handle, class Body>
CUresult driver_of(const Handle* handle, Body&& body, const char* call = __builtin_FUNCTION()) {
  return handle ? driver_of_handle(body, call) : leave(CUDA_ERROR_INVALID_HANDLE, call);
}
// For functions of a stream. The default streams belong to the current context, so one must be current for them.
template <class Body>
CUresult driver_in(CUstream stream, Body&& body, const char* call = __builtin_FUNCTION()) {
  const bool is_default = !stream || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD;
  return is_default ? driver(body, call) : driver_of_handle(body, call);
}
// For functions that take a device or a context handle.
template <Needs needs = Needs::initialization, class Body>
CUresult driver_without_context(Body&& body, const char* call = __builtin_FUNCTION()) {
  if (const CUresult error = enter(needs); error != CUDA_SUCCESS) return leave(error, call);
  const semantics::CallScope scope(call);
  const KeepsLastError keeps;
  return leave(body(), call);
}
// For functions that work before cuInit.
template <class Body>
CUresult driver_always(Body&& body, const char* call = __builtin_FUNCTION()) {
  if (const CUresult error = enter(Needs::nothing); error != CUDA_SUCCESS) return leave(error, call);
  const semantics::CallScope scope(call);
  return leave(body(), call);
}

// Returns CUDA_ERROR_NOT_SUPPORTED and prints `what` to stderr, once.
CUresult not_supported(const std::string& what);

inline bool valid_device(CUdevice device) {
  return semantics::valid_device(device);
}

}  // namespace warpgrind::driver
