#include "base/host_stack.h"

#include <dlfcn.h>
#include <link.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <unordered_map>

namespace warpgrind {

namespace {

// Addresses of the object that contains this code: [low, high).
struct OwnCode {
  std::uintptr_t low = ~std::uintptr_t{0}, high = 0;
  bool holds(const void* pc) const {
    const auto at = reinterpret_cast<std::uintptr_t>(pc);
    return at >= low && at < high;
  }
};

int find_own_code(dl_phdr_info* info, std::size_t, void* data) {
  OwnCode of_object;
  for (std::size_t k = 0; k < info->dlpi_phnum; ++k) {
    const ElfW(Phdr)& part = info->dlpi_phdr[k];
    if (part.p_type != PT_LOAD) continue;
    of_object.low = std::min<std::uintptr_t>(of_object.low, info->dlpi_addr + part.p_vaddr);
    of_object.high = std::max<std::uintptr_t>(of_object.high, info->dlpi_addr + part.p_vaddr + part.p_memsz);
  }
  if (!of_object.holds(reinterpret_cast<const void*>(&find_own_code))) return 0;
  *static_cast<OwnCode*>(data) = of_object;
  return 1;
}

const OwnCode& own_code() {
  static const OwnCode code = [] {
    OwnCode found;
    ::dl_iterate_phdr(find_own_code, &found);
    return found;
  }();
  return code;
}

// dladdr() compares an address with all symbols of its object: 25 us in our own library. So its answers are kept.
// Our own code is never unloaded.
const char* own_function(const void* pc) {
  static std::mutex& mutex = *new std::mutex;
  static auto& names = *new std::unordered_map<const void*, const char*>;
  const std::lock_guard lock(mutex);
  const auto [name, fresh] = names.try_emplace(pc, nullptr);
  Dl_info info{};
  if (fresh && ::dladdr(pc, &info)) name->second = info.dli_sname;
  return name->second;
}

// Whether the address lies in a loaded object. If an object has been unloaded since the last call, its addresses may
// still count.
bool in_an_object(const void* pc) {
  static std::array<std::atomic<const void*>, 256> known{};
  std::atomic<const void*>& slot = known[reinterpret_cast<std::uintptr_t>(pc) * 0x9e3779b97f4a7c15u >> 56];
  if (slot.load(std::memory_order_relaxed) == pc) return true;
  Dl_info info{};
  if (!::dladdr(pc, &info)) return false;
  slot.store(pc, std::memory_order_relaxed);
  return true;
}

struct Walk {
  HostStack stack;
  const void* own = nullptr;  // the outermost frame of our own so far
};

_Unwind_Reason_Code step(_Unwind_Context* context, void* data) {
  auto& walk = *static_cast<Walk*>(data);
  const auto* pc = reinterpret_cast<const void*>(_Unwind_GetIP(context));
  std::vector<const void*>& callers = walk.stack.callers;
  if (pc && callers.empty() && own_code().holds(pc)) {
    walk.own = pc;
    return _URC_NO_REASON;
  }
  if (!pc || !in_an_object(pc)) return callers.empty() ? _URC_NO_REASON : _URC_END_OF_STACK;
  callers.push_back(pc);
  return callers.size() < HostStack::kMostCallers ? _URC_NO_REASON : _URC_END_OF_STACK;
}

// "cudaMemcpy" for "cudaMemcpy_ptds", "cudaLaunchKernel" for "__cudaLaunchKernel".
std::string plain(std::string call) {
  if (call.ends_with("_ptds") || call.ends_with("_ptsz")) call.resize(call.size() - 5);
  return call.starts_with("__") ? call.substr(2) : call;
}

}  // namespace

HostStack host_stack() {
  Walk walk;
  _Unwind_Backtrace(step, &walk);
  const char* const call = walk.own ? own_function(walk.own) : nullptr;
  if (call) walk.stack.call = plain(call);
  return std::move(walk.stack);
}

}  // namespace warpgrind
