#include "checkers/host_place.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/demangle.h"
#include "base/words.h"

namespace warpgrind::checkers {

namespace {

// Is the function one between the user's code and the runtime? These are the stub that nvcc generates for a kernel (its
// lines are in a file below crt/), and the inline wrappers of CUDA's headers.
bool is_wrapper(const jit::HostPlace& place, const std::string& kernel) {
  if (place.function.empty()) return false;
  const std::string name = demangle(place.function);
  return place.function == kernel || name == demangle(kernel) || name.find("__device_stub__") != std::string::npos ||
         name.starts_with("__cuda") || name.starts_with("cudaError cuda") || name.starts_with("cudaError_t cuda") ||
         name.starts_with("cudaLaunch") || place.file.find("/cuda_runtime.h") != std::string::npos ||
         place.file.find("/include/crt/") != std::string::npos;
}

}  // namespace

jit::HostPlace user_place(const std::vector<const void*>& callers, const std::string& kernel) {
  jit::HostPlace first;
  for (const void* caller : callers) {
    for (const jit::HostPlace& place : jit::host_places(caller)) {
      if (is_wrapper(place, kernel)) continue;
      if (place.line) return place;
      if (first.function.empty()) first = place;
    }
    if (!first.function.empty()) return first;
  }
  return first;
}

std::vector<const void*> user_callers(const std::vector<const void*>& callers, const std::string& kernel) {
  const auto first = std::find_if(callers.begin(), callers.end(), [&](const void* caller) {
    const std::vector<jit::HostPlace> places = jit::host_places(caller);
    return !std::all_of(places.begin(), places.end(), [&](const auto& place) { return is_wrapper(place, kernel); });
  });
  return {first, callers.end()};
}

results::FindingAccess host_access(const HostStack& stack, bool always_function) {
  const jit::HostPlace place = user_place(stack.callers);
  results::FindingAccess at;
  at.access = stack.call;
  at.file = place.file;
  at.line = place.line;
  if ((always_function || place.line == 0) && !place.function.empty()) at.function = demangle(place.function);
  return at;
}

std::string describe(const HostStack& stack, const std::string& kernel) {
  const jit::HostPlace place = user_place(stack.callers, kernel);
  if (place.line) return fmt::format("{} at {}:{}", stack.call, base_name(place.file), place.line);
  return place.function.empty() ? stack.call : fmt::format("{} in {}", stack.call, demangle(place.function));
}

}  // namespace warpgrind::checkers
