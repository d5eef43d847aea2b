#include "session/after_fault.h"

#include <fmt/format.h>

#include "base/demangle.h"
#include "checkers/host_place.h"

namespace warpgrind::session {

void AfterFault::failed(const device::Fault& fault) {
  if (!checkers_) return;
  checkers_->note_fault();
  const std::lock_guard lock(mutex_);
  if (!fault_) fault_ = fault;
}

void AfterFault::returned(const char* error) {
  if (!checkers_) return;
  const std::lock_guard lock(mutex_);
  if (++calls_ > 1) return;
  error_ = error;
  first_ = host_stack();
}

void AfterFault::launched() {
  if (checkers_) checkers_->note_gone_on();
}

std::optional<results::Finding> AfterFault::finding() const {
  if (!checkers_) return std::nullopt;
  const std::lock_guard lock(mutex_);
  if (calls_ < 2 || !fault_) return std::nullopt;
  const std::string kernel = demangle(fault_->kernel);
  results::Finding f;
  f.kind = "sticky-error";
  f.severity = results::Severity::info;
  f.message = fmt::format(
      "{} calls returned {} because a kernel had failed earlier, not because of an error of their own", calls_, error_);
  f.count = calls_;
  const jit::HostPlace place = checkers::user_place(first_.callers);
  results::FindingAccess& at = f.accesses.emplace_back();
  at.role = "first";
  at.access = first_.call;
  at.file = place.file;
  at.line = place.line;
  if (!place.line && !place.function.empty()) at.function = demangle(place.function);
  f.file = at.file;
  f.line = at.line;
  f.cause = {fault_->file, fault_->line, kernel.empty() ? "a copy failed" : fmt::format("{} failed", kernel)};
  if (checkers_->gone_on())
    f.notes.push_back("a GPU runs no more work after such an error; warpgrind ran it, to find more errors");
  f.advice = "check the result of cudaDeviceSynchronize() after the launch, and stop at an error";
  return f;
}

}  // namespace warpgrind::session
