// Record of API errors that the program has not checked (api_errors.h).
#include "session/api_errors.h"

#include <fmt/core.h>

#include "base/assert.h"
#include "base/demangle.h"
#include "checkers/host_place.h"
#include "jit/host_code.h"
#include "session/messages.h"

namespace warpgrind::session {

bool is_launch(const std::string& call) {
  return call.find("cudaLaunch") != std::string::npos && call.find("HostFunc") == std::string::npos;
}

bool only_asks(const std::string& call) {
  return call == "cudaEventElapsedTime" || call == "cudaEventElapsedTime_v2" || call == "cudaEventQuery" ||
         call == "cudaStreamQuery" || call.starts_with("cudaGet") || call.find("GetAttribute") != std::string::npos;
}

bool is_answer(const std::string& error) {
  return error == "cudaErrorNotReady" || error == "cudaErrorPeerAccessAlreadyEnabled" ||
         error == "cudaErrorHostMemoryAlreadyRegistered";
}

std::vector<ApiErrors::Entry> ApiErrors::unchecked_entries() const {
  const std::lock_guard lock(mutex_);
  std::vector<Entry> out;
  for (const Entry& entry : entries_)
    if (entry.unknown != 0) out.push_back(entry);
  return out;
}

std::vector<ApiErrors::Entry> ApiErrors::take_unchecked() {
  const std::lock_guard lock(mutex_);
  std::vector<Entry> out;
  for (Entry& entry : entries_) {
    if (entry.unknown > entry.taken) out.push_back({entry.error, entry.unknown - entry.taken, 0});
    entry.taken = entry.unknown;  // fewer if some were checked since
  }
  return out;
}

std::size_t ApiErrors::add(const ApiError& error) {
  const std::lock_guard lock(mutex_);
  Key key{error.call, error.name, error.kernel, error.callers};
  const auto [it, added] = numbers_.try_emplace(std::move(key), entries_.size());
  if (added) entries_.push_back({error, 0, 0});
  ++entries_[it->second].unknown;
  return it->second;
}

void ApiErrors::mark_checked(std::size_t number) {
  const std::lock_guard lock(mutex_);
  WG_ASSERT(number < entries_.size());  // add() returned it, and no entry is removed
  if (entries_[number].unknown) --entries_[number].unknown;
}

std::vector<results::Finding> ApiErrors::findings_of(const std::vector<Entry>& entries) {
  std::vector<results::Finding> out;
  for (const Entry& entry : entries) {
    const ApiError& e = entry.error;
    results::Finding f;
    f.kind = "API error";
    f.message = fmt::format("{}: {}; the program did not check the error",
                            is_launch(e.call) ? std::string("launch refused") : e.call + " failed",
                            e.reason.empty() ? e.text : e.reason);
    f.kernel = e.kernel.empty() ? "" : demangle(e.kernel);
    const jit::HostPlace place = checkers::user_place(e.callers, e.kernel);
    f.file = place.file;
    f.line = place.line;
    if (!place.line && !place.function.empty())
      f.notes.push_back(
          fmt::format("called in {} (compile the host code with -g for the line)", demangle(place.function)));
    f.notes.push_back(fmt::format("{} returned {}{}", e.call, e.name,
                                  entry.unknown > 1 ? fmt::format(", {} times", entry.unknown) : std::string()));
    f.advice = is_launch(e.call) ? "check cudaGetLastError() after each launch" : "check the result of the call";
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
