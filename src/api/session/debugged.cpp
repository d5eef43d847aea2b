// The debugger of a run, and the texts of what it hears.
#include "session/debugged.h"

#include <fmt/format.h>
#include <unistd.h>

#include <mutex>
#include <set>

#include "adapter/adapter.h"
#include "base/host_stack.h"
#include "checkers/host_place.h"
#include "checkers/kernel_place.h"
#include "device/memory/written_pages.h"
#include "report/format.h"
#include "session/messages.h"

namespace warpgrind::session {

namespace {

using Report = device::StopHandler::Report;
using results::Finding;
using results::FindingAccess;

// "  first   write at tile.cu:7 by block (0,0,0), thread (32,0,0)"
std::string line_of(const FindingAccess& a) {
  std::string out = fmt::format("\n  {:<7} {}", a.role.empty() ? "at" : a.role, a.access);
  if (a.bytes != 0) out += fmt::format(" of {} bytes", a.bytes);
  if (a.line != 0 || a.ptx_line != 0) out += " at " + checkers::place_text(a);
  if (a.of_thread)
    out += fmt::format(" by block {}, thread {}", report::compact_dim3(a.block), report::compact_dim3(a.thread));
  if (!a.object.empty()) out += ": " + a.object;
  return out;
}

std::string text_of(const Finding& f) {
  std::string out = fmt::format("{}: {}", f.kind, f.message);
  for (const FindingAccess& a : f.accesses) out += line_of(a);
  if (f.origin && !f.origin->object.empty()) out += "\n  origin  " + f.origin->object;
  if (!f.missing.empty()) out += "\n  missing " + f.missing;
  return out;
}

std::string key_of(const Finding& f) {
  std::string out = f.kind + "|" + f.kernel;
  for (const FindingAccess& a : f.accesses) out += fmt::format("|{}:{}:{}", a.file, a.line, a.line ? 0 : a.ptx_line);
  return out;
}

// The finding in the thread that has made it.
void show(device::StopHandler& debugger, std::uint64_t launch, const Finding& f) {
  Report report;
  report.kind = Report::Kind::finding;
  report.text = text_of(f);
  report.advice = f.advice;
  if (launch == checkers::Checker::kNoLaunch) {
    HostStack stack = host_stack();
    report.call = std::move(stack.call);
    report.callers = checkers::user_callers(stack.callers);
  } else {
    report.launch = launch;
    // The last access is the newest one of a race.
    for (auto a = f.accesses.rbegin(); a != f.accesses.rend(); ++a)
      if (a->of_thread) report.accesses.push_back({a->block, a->warp, a->lane});
  }
  debugger.reported(report);
}

}  // namespace

device::StopHandler* debugger_of(const RunOptions& run) {
  if (run.debug_socket.empty()) return nullptr;
  const auto report = [](const std::string& why) {
    print_line(fmt::format("process {} runs without the debugger: {}", ::getpid(), why));
  };
  return adapter::debugger_at(run.debug_socket, report);
}

events::Observer* memory_of_debugger(const RunOptions& run) {
  if (!debugger_of(run)) return nullptr;
  return adapter::memory_observer([](const HostStack& stack) { return checkers::describe(stack); });
}

void leave_debugger_after_fork() {
  device::WrittenPages::leave_after_fork();
  adapter::leave_after_fork();
}

void show_findings(checkers::Checkers& checkers, const RunOptions& run) {
  struct Shown {
    std::mutex mutex;
    std::set<std::string> keys;
  };
  const auto shown = std::make_shared<Shown>();
  checkers.announce_to([shown, &run](std::uint64_t launch, const Finding& f) {
    device::StopHandler* const debugger = f.severity == results::Severity::info ? nullptr : debugger_of(run);
    if (!debugger || !debugger->wants(Report::Kind::finding)) return;
    {
      const std::lock_guard lock(shown->mutex);
      if (!shown->keys.insert(key_of(f)).second) return;
    }
    show(*debugger, launch, f);
  });
}

void show_failed_call(const FailedCall& failed, const RunOptions& run) {
  device::StopHandler* const debugger = debugger_of(run);
  if (!debugger || !debugger->wants(Report::Kind::api)) return;
  HostStack stack = host_stack();
  Report report;
  report.kind = Report::Kind::api;
  report.call = failed.call.empty() ? std::move(stack.call) : failed.call;
  report.callers = checkers::user_callers(stack.callers, failed.kernel);
  report.text = fmt::format("{} returns {} ({})", report.call, failed.name, failed.text);
  if (!failed.reason.empty()) report.text += ": " + failed.reason;
  debugger->reported(report);
}

}  // namespace warpgrind::session
