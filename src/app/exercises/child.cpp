#include "exercises/child.h"

#include <fmt/format.h>

#include "lab/process.h"
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
  std::vector<std::string> command = {"env", "-C", job.work};
  command.insert(command.end(), job.command.begin(), job.command.end());
  const lab::ProcessResult result = lab::run_captured(command, {.seconds = job.seconds});
  ChildEnd out;
  out.exit_code = result.exit_code;
  out.output = result.output + result.errors;
  if (result.timed_out) out.stopped = fmt::format("stopped: it took longer than {} s", job.seconds);
  return out;
}

std::string folder_inside(const ChildJob& job) {
  return job.boxed ? sandbox::kWorkFolder : job.work;
}

}  // namespace warpgrind::exercises
