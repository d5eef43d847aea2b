// The last error of a thread, and which errors the program knows of: those whose value the caller reads, and all that
// came before a cudaGetLastError or cudaPeekAtLastError of the same thread.
#include <dlfcn.h>
#include <unwind.h>

#include <vector>

#include "cudart/runtime.h"

namespace warpgrind::cudart {

namespace {

constexpr std::size_t kMostCallers = 8;

const void* own_base() {
  static const void* base = [] {
    Dl_info info{};
    return ::dladdr(reinterpret_cast<const void*>(&own_base), &info) ? info.dli_fbase : nullptr;
  }();
  return base;
}

struct Walk {
  std::string call;                  // the entry point: the outermost function of this library
  std::vector<const void*> callers;  // what comes after it
};

_Unwind_Reason_Code step(_Unwind_Context* context, void* data) {
  auto& walk = *static_cast<Walk*>(data);
  const auto* pc = reinterpret_cast<const void*>(_Unwind_GetIP(context));
  Dl_info info{};
  if (!pc || !::dladdr(pc, &info)) return walk.callers.empty() ? _URC_NO_REASON : _URC_END_OF_STACK;
  if (info.dli_fbase == own_base() && walk.callers.empty()) {
    if (info.dli_sname) walk.call = info.dli_sname;
    return _URC_NO_REASON;
  }
  walk.callers.push_back(pc);
  return walk.callers.size() < kMostCallers ? _URC_NO_REASON : _URC_END_OF_STACK;
}

// "cudaMemcpy" for "cudaMemcpy_ptds", "cudaLaunchKernel" for "__cudaLaunchKernel": what the manual calls it.
std::string plain(std::string call) {
  if (call.ends_with("_ptds") || call.ends_with("_ptsz")) call.resize(call.size() - 5);
  return call.starts_with("__") ? call.substr(2) : call;
}

void note(cudaError_t error) {
  ThreadState& thread = thread_state();
  Walk walk;
  _Unwind_Backtrace(step, &walk);
  if (!session::result_dropped(walk.callers)) return;
  session::ApiError e;
  e.call = plain(walk.call);
  e.name = error_name(error);
  e.text = error_text(error);
  e.reason = thread.reason;
  e.kernel = thread.refused_kernel;
  e.callers = std::move(walk.callers);
  ++thread.not_asked_for[the_session().api_errors().add(e)];
}

}  // namespace

void begin_call() {
  ThreadState& thread = thread_state();
  thread.reason.clear();
  thread.refused_kernel.clear();
  thread.error_is_said = false;
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
  thread.last_error = error;
  // An answer, not a failure; and what a finding or a message has named is not named again.
  const bool answer = error == cudaErrorNotReady;
  if (!answer && !thread.error_is_said && error != sticky_error()) note(error);
  return error;
}

void errors_were_asked_for() {
  ThreadState& thread = thread_state();
  for (const auto& [number, times] : thread.not_asked_for)
    for (std::uint64_t i = 0; i < times; i++) the_session().api_errors().asked_for(number);
  thread.not_asked_for.clear();
}

}  // namespace warpgrind::cudart
