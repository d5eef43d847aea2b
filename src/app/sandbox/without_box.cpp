// Run of a job without a box, as the current user.
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>

#include <chrono>

#include "base/process.h"
#include "sandbox/sandbox.h"

namespace warpgrind::sandbox {

namespace {

Ending how_of(const Captured& run) {
  switch (run.stop) {
    case Captured::Stop::time:
      return Ending::wall_time;
    case Captured::Stop::bytes:
      return Ending::output;
    case Captured::Stop::cancelled:
      return Ending::cancelled;
    case Captured::Stop::none:
      break;
  }
  if (run.end.signal() == 0) return Ending::exited;
  return run.end.signal() == SIGXCPU ? Ending::cpu_time : Ending::signalled;
}

}  // namespace

Result<End> run_without_box(const Job& job, std::stop_token cancel) {
  if (job.command.empty()) return Error{ErrorKind::environment, "cannot run: no command", ""};
  ProcessCommand command{.words = job.command, .own_session = true, .death_signal = SIGTERM};
  command.folder = job.work.empty() ? "/" : job.work.string();
  const auto seconds = static_cast<rlim_t>(job.limits.cpu_seconds) + 1;
  command.in_child = [seconds] {
    const rlimit cpu{seconds, seconds + 1};
    setrlimit(RLIMIT_CPU, &cpu);
  };
  CaptureSettings settings;
  settings.seconds = job.limits.wall_seconds;
  settings.bytes = job.limits.output_bytes;
  settings.joined = true;
  settings.tick = std::chrono::milliseconds(20);
  settings.on_output = job.on_output;
  settings.cancelled = [&cancel] { return cancel.stop_requested(); };
  auto run = run_captured(std::move(command), settings);
  if (!run) return run.error();
  End end;
  end.how = how_of(*run);
  end.output = std::move(run->output);
  end.wall_seconds = run->seconds;
  if (run->stop == Captured::Stop::none) end.code = run->end.signal() != 0 ? run->end.signal() : run->end.shell_code();
  return end;
}

}  // namespace warpgrind::sandbox
