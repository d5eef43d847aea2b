#include "session/api_errors.h"

#include <fmt/core.h>

#include "base/demangle.h"
#include "jit/host_code.h"
#include "session/messages.h"

namespace warpgrind::session {

namespace {

// Functions between the user's line and this library: the stub that nvcc makes of a kernel (its lines are of a file
// below crt/), and the inline wrappers of CUDA's headers.
bool is_wrapper(const jit::HostPlace& place, const std::string& kernel) {
  if (place.function.empty()) return false;
  const std::string name = demangle(place.function);
  return place.function == kernel || name == demangle(kernel) || name.find("__device_stub__") != std::string::npos ||
         name.starts_with("__cuda") || name.starts_with("cudaError cuda") || name.starts_with("cudaError_t cuda") ||
         name.starts_with("cudaLaunch") || place.file.find("/cuda_runtime.h") != std::string::npos ||
         place.file.find("/include/crt/") != std::string::npos;
}

// The innermost place in the user's own source.
jit::HostPlace user_place(const ApiError& error) {
  jit::HostPlace first;
  for (const void* caller : error.callers) {
    for (const jit::HostPlace& place : jit::host_places(caller)) {
      if (is_wrapper(place, error.kernel)) continue;
      if (place.line) return place;
      if (first.function.empty()) first = place;
    }
    if (!first.function.empty()) return first;
  }
  return first;
}

bool is_launch(const std::string& call) {
  return call.find("cudaLaunch") != std::string::npos && call.find("HostFunc") == std::string::npos;
}

}  // namespace

std::size_t ApiErrors::add(const ApiError& error) {
  const std::lock_guard lock(mutex_);
  Key key{error.call, error.name, error.kernel, error.callers};
  const auto [it, added] = numbers_.try_emplace(std::move(key), entries_.size());
  if (added) entries_.push_back({error, 0});
  ++entries_[it->second].unknown;
  return it->second;
}

void ApiErrors::asked_for(std::size_t number) {
  const std::lock_guard lock(mutex_);
  if (number < entries_.size() && entries_[number].unknown) --entries_[number].unknown;
}

std::vector<results::Finding> ApiErrors::not_asked_for() const {
  const std::lock_guard lock(mutex_);
  std::vector<results::Finding> out;
  for (const Entry& entry : entries_) {
    if (!entry.unknown) continue;
    const ApiError& e = entry.error;
    results::Finding f;
    f.kind = "API error";
    f.message = fmt::format("{}: {}; the program did not ask for the error",
                            is_launch(e.call) ? std::string("launch refused") : e.call + " failed",
                            e.reason.empty() ? e.text : e.reason);
    f.kernel = e.kernel.empty() ? "" : demangle(e.kernel);
    const jit::HostPlace place = user_place(e);
    f.file = place.file;
    f.line = place.line;
    if (!place.line && !place.function.empty())
      f.notes.push_back(
          fmt::format("called in {} (compile the host code with -g for the line)", demangle(place.function)));
    f.notes.push_back(fmt::format("{} returned {}{}", e.call, e.name,
                                  entry.unknown > 1 ? fmt::format(", {} times", entry.unknown) : std::string()));
    f.advice = is_launch(e.call) ? "look at cudaGetLastError() after each launch" : "look at what the call returns";
    out.push_back(std::move(f));
  }
  return out;
}

bool result_dropped(const std::vector<const void*>& callers) {
  for (const void* caller : callers) {
    const jit::ResultUse use = jit::result_use(caller);
    if (use != jit::ResultUse::passed_on) return use == jit::ResultUse::dropped;
  }
  return false;
}

}  // namespace warpgrind::session
