#include "base/host_stack.h"

#include <dlfcn.h>
#include <unwind.h>

namespace warpgrind {

namespace {

const void* own_base() {
  static const void* base = [] {
    Dl_info info{};
    return ::dladdr(reinterpret_cast<const void*>(&own_base), &info) ? info.dli_fbase : nullptr;
  }();
  return base;
}

_Unwind_Reason_Code step(_Unwind_Context* context, void* data) {
  auto& walk = *static_cast<HostStack*>(data);
  const auto* pc = reinterpret_cast<const void*>(_Unwind_GetIP(context));
  Dl_info info{};
  if (!pc || !::dladdr(pc, &info)) return walk.callers.empty() ? _URC_NO_REASON : _URC_END_OF_STACK;
  if (info.dli_fbase == own_base() && walk.callers.empty()) {
    if (info.dli_sname) walk.call = info.dli_sname;
    return _URC_NO_REASON;
  }
  walk.callers.push_back(pc);
  return walk.callers.size() < HostStack::kMostCallers ? _URC_NO_REASON : _URC_END_OF_STACK;
}

// "cudaMemcpy" for "cudaMemcpy_ptds", "cudaLaunchKernel" for "__cudaLaunchKernel".
std::string plain(std::string call) {
  if (call.ends_with("_ptds") || call.ends_with("_ptsz")) call.resize(call.size() - 5);
  return call.starts_with("__") ? call.substr(2) : call;
}

}  // namespace

HostStack host_stack() {
  HostStack walk;
  _Unwind_Backtrace(step, &walk);
  walk.call = plain(std::move(walk.call));
  return walk;
}

}  // namespace warpgrind
