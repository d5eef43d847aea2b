// Findings of `warpgrind check` for unchecked API errors (api_findings.h).
#include "session/api_findings.h"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "base/demangle.h"
#include "checkers/host_place.h"

namespace warpgrind::session {

namespace {

using results::Severity;

bool breaks_a_rule(const ApiError& e) {
  static constexpr std::array kRules = {"cudaErrorInvalidValue",         "cudaErrorInvalidConfiguration",
                                        "cudaErrorLaunchOutOfResources", "cudaErrorCooperativeLaunchTooLarge",
                                        "cudaErrorInvalidClusterSize",   "cudaErrorLaunchMaxDepthExceeded"};
  if (!is_launch(e.call) || e.reason.empty()) return false;
  for (const char* rule : kRules)
    if (e.name == rule) return true;
  return false;
}

results::FindingAccess host_access(const std::string& call, const std::vector<const void*>& callers,
                                   const std::string& kernel) {
  const jit::HostPlace place = checkers::user_place(callers, kernel);
  results::FindingAccess at;
  at.access = call;
  at.file = place.file;
  at.line = place.line;
  if (!place.line && !place.function.empty()) at.function = demangle(place.function);
  return at;
}

void describe_launch(results::Finding& f, const ApiError& e) {
  f.notes.push_back("the kernel did not run");
  if (e.reason.find("cudaFuncAttributeMaxDynamicSharedMemorySize") != std::string::npos)
    f.advice =
        "request it before the launch: cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, "
        "bytes)";
  else
    f.advice = "stay within the limit, and check cudaGetLastError() after each launch";
}

void describe_destroyed(results::Finding& f, const ApiError& e, const checkers::Handle& handle) {
  f.kind = "api-misuse";
  f.message =
      fmt::format("{}: the {} was already destroyed", is_launch(e.call) ? "launch refused" : e.call, handle.kind);
  const jit::HostPlace by = checkers::user_place(handle.destroyed->callers);
  f.cause = {by.file, by.line, fmt::format("destroyed by {}", handle.destroyed->call)};
  const jit::HostPlace made = checkers::user_place(handle.made.callers);
  f.origin = {handle.made.call, made.file, made.line, fmt::format("the {}", handle.kind), {}};
  f.advice = "destroy it after its last use";
}

results::Finding finding_of(const ApiErrors::Entry& entry, checkers::Checkers& checkers) {
  const ApiError& e = entry.error;
  results::Finding f;
  f.kind = breaks_a_rule(e) ? "launch-config" : "api-error";
  f.severity = only_asks(e.call) ? Severity::warning : Severity::error;
  f.message = fmt::format("{}: {}", is_launch(e.call) ? std::string("launch refused") : e.call + " failed",
                          e.reason.empty() ? e.text : e.reason);
  f.advice = "check the result of the call";
  f.count = entry.unknown;
  f.group = "api";
  f.error = e.name;
  f.accesses.push_back(host_access(e.call, e.callers, e.kernel));
  f.accesses[0].kernel = e.kernel.empty() ? "" : demangle(e.kernel);
  f.kernel = f.accesses[0].kernel;
  f.file = f.accesses[0].file;
  f.line = f.accesses[0].line;
  if (is_launch(e.call)) describe_launch(f, e);
  if (e.address) {
    auto object = checkers.objects().live_at(e.address);
    if (!object) object = checkers.objects().freed_at(e.address);  // freed after the call
    if (object) f.origin = checkers::origin_of(*object);
  }
  if (e.handle)
    if (const auto handle = checkers.handles().find(e.handle); handle && handle->destroyed)
      describe_destroyed(f, e, *handle);
  if (f.line == 0 && !f.accesses[0].function.empty())
    f.notes.push_back(fmt::format("called in {} (compile the host code with -g for the line)", f.accesses[0].function));
  f.notes.push_back(fmt::format("{} returned {}{}, and the program did not check it", e.call, e.name,
                                entry.unknown > 1 ? fmt::format(", {} times", entry.unknown) : std::string()));
  return f;
}

}  // namespace

std::vector<results::Finding> api_findings(const std::vector<ApiErrors::Entry>& entries, checkers::Checkers& checkers) {
  std::vector<results::Finding> out;
  for (const ApiErrors::Entry& entry : entries)
    if (!is_answer(entry.error.name)) out.push_back(finding_of(entry, checkers));
  return out;
}

}  // namespace warpgrind::session
