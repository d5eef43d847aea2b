// Creation of the session: step 1 of a run (run.h).
#include "session/session.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>

#include "session/debugged.h"

namespace warpgrind::session {

namespace {
std::atomic<Session*> the_session{nullptr};

// Reports the findings before the process aborts. Many programs end at their first bug by an assert() on the result of
// a call.
void finish_at_abort() {
  struct sigaction own {};
  own.sa_handler = [](int) {
    signal(SIGABRT, SIG_DFL);
    if (Session* session = the_session.load()) session->run.finish(true);
    raise(SIGABRT);
  };
  own.sa_flags = SA_NODEFER;
  sigaction(SIGABRT, &own, nullptr);
}

[[noreturn]] void refuse(const Error& error) {
  print_line("error: " + describe(error));
  _exit(2);
}

RunOptions read_options() {
  RunOptions options;
  if (const char* text = std::getenv(kOptionsVariable)) {
    Result<RunOptions> decoded = decode(text);
    if (!decoded) refuse(decoded.error());
    options = decoded.take();
  } else {
    // A program that was linked with our runtime and started directly: only its own output should appear.
    options.cache_directory = default_cache_directory();
    options.quiet = true;
  }
  if (options.devices == 0) options.devices = 1;
  return options;
}

const GpuModel& chosen_model(const RunOptions& options) {
  const Result<const GpuModel*> model = find_gpu_model(options.gpu);
  if (!model) refuse(model.error());
  return **model;
}

std::unique_ptr<checkers::Checkers> make_checkers(const RunOptions& options, const GpuModel& model) {
  if (!options.checks.any()) return nullptr;
  checkers::AskUnwritten unwritten;
  if (options.track_unused_memory)
    unwritten = [](std::uint64_t address, std::uint64_t bytes) -> checkers::Unwritten {
      const auto [count, first] = device::Device::unwritten(address, bytes);
      return {count, first};
    };
  return std::make_unique<checkers::Checkers>(options.checks, model, std::move(unwritten));
}
}  // namespace

Session& Session::instance() {
  // Never destroyed: the program's own static destructors may still call CUDA.
  static Session* session = [] {
    auto* created = new Session;
    the_session = created;
    return created;
  }();
  return *session;
}

bool Session::exists() {
  return the_session.load() != nullptr;
}

Session::Session()
    : options(read_options()),
      model(chosen_model(options)),
      checkers(make_checkers(options, model)),
      collector(options.each_launch || !options.csv_path.empty(), options.detail),
      timeline(options.devices, model.copy_engines, model.concurrent_kernels, timing::timeline_costs(model)),
      estimates(model),
      devices(options, model, checkers.get()),
      messages(options),
      after_fault(checkers.get()),
      handles(checkers.get()),
      findings(options, checkers.get(), after_fault, messages, collector),
      trials(options, checkers.get(), findings, messages),
      sections({options, model, findings, activity, collector}),
      run({options, model, checkers.get(), messages, devices, findings, trials, activity, estimates, collector}),
      programs(options, model, run),
      core_dump(options, devices, messages),
      launches({options, model, run, messages, devices, activity, findings, trials, managed_memory, estimates, timeline,
                collector, core_dump}),
      timeline_entries(model, timeline, estimates, managed_memory, collector) {
  if (checkers) finish_at_abort();
  if (checkers && !options.debug_socket.empty()) show_findings(*checkers, options);
  pthread_atfork(nullptr, nullptr, [] {
    the_session.load()->run.after_fork();
    if (!the_session.load()->options.debug_socket.empty()) leave_debugger_after_fork();
  });
}

}  // namespace warpgrind::session
