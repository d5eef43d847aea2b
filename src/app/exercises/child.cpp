#include "exercises/child.h"

#include <fmt/format.h>

#include "base/process.h"
#include "sandbox/sandbox.h"

namespace warpgrind::exercises {

namespace {

Result<ChildEnd> run_boxed(const ChildJob& job) {
  sandbox::Job boxed;
  boxed.command = job.command;
  boxed.work = job.work;
  boxed.readable.assign(job.readable.begin(), job.readable.end());
  boxed.limits.cpu_seconds = job.seconds;
  boxed.limits.wall_seconds = 3 * job.seconds;  // other programs may use the machine
  auto end = sandbox::run(boxed);
  if (!end) return end.error();
  ChildEnd out;
  out.output = end->output;
  constexpr int kSignal = 128;  // as in shells: 128 + signal
  out.exit_code = end->how == sandbox::Ending::signalled ? kSignal + end->code : end->code;
  if (end->how != sandbox::Ending::exited && end->how != sandbox::Ending::signalled)
    out.stopped = sandbox::text_of(*end, boxed.limits);
  return out;
}

}  // namespace

Result<ChildEnd> run_child(const ChildJob& job) {
  if (job.boxed) return run_boxed(job);
  auto run = run_captured({.words = job.command, .folder = job.work, .inherits_files = true, .death_signal = SIGTERM},
                          {.seconds = job.seconds});
  if (!run) return run.error();
  ChildEnd out;
  out.exit_code = run->end.shell_code();
  out.output = run->output + run->errors;
  if (run->stop == Captured::Stop::time) out.stopped = fmt::format("stopped: it took longer than {} s", job.seconds);
  return out;
}

std::string folder_inside(const ChildJob& job) {
  return job.boxed ? sandbox::kWorkFolder : job.work;
}

}  // namespace warpgrind::exercises
