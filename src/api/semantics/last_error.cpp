// Last error of a thread, and detection of errors that the program checked. An error counts as checked if the caller
// reads the result, or if the same thread later calls cudaGetLastError or cudaPeekAtLastError.
#include <atomic>

#include "base/host_stack.h"
#include "semantics/state.h"
#include "session/api_errors.h"
#include "session/debugged.h"

namespace warpgrind::semantics {

namespace {

// Fills in the details of the error. True if the program ignored the result.
bool dropped(session::ApiError& e) {
  HostStack walk = host_stack();
  const ThreadState& thread = thread_state();
  if (e.call.empty()) e.call = std::move(walk.call);
  e.reason = thread.reason;
  e.kernel = thread.refused_kernel;
  e.address = thread.refused_address;
  e.handle = thread.refused_handle;
  e.callers = std::move(walk.callers);
  return session::result_dropped(e.callers);
}

// Lookups of functions by name: clients such as cuda-python try each name that a later CUDA has.
bool is_lookup(const std::string& call) {
  return call.starts_with("cuGetProcAddress") || call.starts_with("cudaGetDriverEntryPoint");
}

// Errors that answer a question: they are no reason for a program to say anything.
bool answers(const session::ApiError& e) {
  return is_lookup(e.call) || session::only_asks(e.call) || session::is_answer(e.name) ||
         e.call == "cuMemGetAddressRange" || e.name == "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED" ||
         e.name == "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED";
}

void note(cudaError_t error) {
  session::ApiError e;
  e.name = error_name(error);
  e.text = error_text(error);
  if (dropped(e))
    ++thread_state().unchecked_errors[session::findings().api_errors().add(e)];
  else if (!answers(e))
    session::activity().call_failed(e);
}

// Shows the error of the current call to a debugger. The error of an earlier kernel, which each later call returns, is
// shown once.
thread_local bool error_is_shown = false;  // of the current call
void show(std::string call, const char* name, const char* text, bool sticky) {
  static std::atomic<bool> sticky_shown{false};
  if (session::options().debug_socket.empty() || error_is_shown || is_lookup(call)) return;
  error_is_shown = true;
  if (sticky && sticky_shown.exchange(true)) return;
  const ThreadState& thread = thread_state();
  session::show_failed_call({std::move(call), name, text, thread.reason, thread.refused_kernel}, session::options());
}

}  // namespace

void begin_call() {
  ThreadState& thread = thread_state();
  thread.reason.clear();
  thread.refused_kernel.clear();
  thread.refused_address = thread.refused_handle = 0;
  thread.error_is_said = thread.refused_by_us = error_is_shown = false;
  thread.refused_launch_device = -1;
}

void note_error(std::string call, const char* name, const char* text) {
  show(call, name, text, /*sticky=*/false);
  session::ApiError e;
  e.call = std::move(call);
  e.name = name;
  e.text = text;
  if (thread_state().error_is_said || session::run().broken_by_fork()) return;
  thread_state().error_is_said = true;  // nested calls report it once
  if (dropped(e))
    session::findings().api_errors().add(e);
  else if (!answers(e) && sticky_error() == cudaSuccess)  // else a finding has the kernel's fault
    session::activity().call_failed(e);
}

cudaError_t refuse(cudaError_t error, std::string why) {
  thread_state().reason = std::move(why);
  return error;
}

cudaError_t already_said(cudaError_t error) {
  thread_state().error_is_said = true;
  return error;
}

cudaError_t set_last_error(cudaError_t error) {
  if (error == cudaSuccess) return error;
  ThreadState& thread = thread_state();
  // cudaErrorNotReady is an answer, not a failure, and does not become the last error (CUDA 13.0 on an H200:
  // cudaGetLastError then returns cudaSuccess). An error that a finding or message has reported is not reported again.
  const bool answer = error == cudaErrorNotReady;
  if (!answer) thread.last_error = error;
  if (!answer) show("", error_name(error), error_text(error), error == sticky_error());
  if (error == sticky_error())
    session::after_fault().returned(error_name(error));
  else if (!answer && !thread.error_is_said)
    note(error);
  return error;
}

void mark_errors_checked() {
  ThreadState& thread = thread_state();
  for (const auto& [number, times] : thread.unchecked_errors)
    for (std::uint64_t i = 0; i < times; i++) session::findings().api_errors().mark_checked(number);
  thread.unchecked_errors.clear();
}

}  // namespace warpgrind::semantics
