// Run of a job in its box: output, limits, and the end of all its processes.
#include "sandbox/sandbox.h"

#include <errno.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>

#include "base/assert.h"
#include "sandbox/box.h"
#include "sandbox/cpu_meter.h"
#include "sandbox/usage.h"
#include "sandbox/work_files.h"

namespace warpgrind::sandbox {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kEvery = 20;  // ms between two checks of a job's usage

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The pid of the first process may already belong to another process: bubblewrap waits for it, not this process.
void kill_first(const Box& box) {
  syscall(SYS_pidfd_send_signal, box.first_alive.get(), SIGKILL, nullptr, 0);
}

// Watches one job, from the opening of the gate to the end of its last process.
class Watch {
 public:
  Watch(const Job& job, Box& box, std::stop_token cancel)
      : job_(job), box_(box), cancel_(std::move(cancel)), meter_(box.first) {}

  End go() {
    started_ = Clock::now();
    if (write(box_.gate.get(), "g", 1) != 1) stop(Ending::cancelled);
    box_.gate.reset();
    bool open = true;
    Clock::time_point looked;
    while (open) {
      pollfd waiting{box_.output.get(), POLLIN, 0};
      if (poll(&waiting, 1, kEvery) > 0) open = read_output();
      if (Clock::now() - looked < std::chrono::milliseconds(kEvery)) continue;
      look();
      looked = Clock::now();
    }
    wait();
    return std::move(end_);
  }

 private:
  void stop(Ending how) {
    if (!stopped_) end_.how = how;
    stopped_ = true;
    // The kernel kills all processes of a box when the first one dies.
    box_.bubblewrap.send(SIGKILL);
    kill_first(box_);
  }

  bool read_output() {
    std::array<char, 1 << 16> buffer;
    const ssize_t got = read(box_.output.get(), buffer.data(), buffer.size());
    if (got < 0) return errno == EINTR;
    if (got == 0) return false;
    WG_ASSERT(end_.output.size() <= job_.limits.output_bytes);
    const std::uint64_t room = job_.limits.output_bytes - end_.output.size();
    const std::string_view more(buffer.data(), std::min<std::uint64_t>(got, room));
    if (!stopped_ && !more.empty()) {
      end_.output += more;
      if (job_.on_output) job_.on_output(more);
    }
    if (static_cast<std::uint64_t>(got) > room) stop(Ending::output);
    return true;
  }

  void look() {
    const Limits& limits = job_.limits;
    const Usage usage = usage_of(box_.processes.get(), box_.disk.get());
    end_.cpu_seconds = std::max(end_.cpu_seconds, meter_.seconds(usage.times));
    end_.peak_memory = std::max(end_.peak_memory, usage.memory);
    if (cancel_.stop_requested()) stop(Ending::cancelled);
    if (usage.memory > limits.memory_bytes || machine_is_short_of_memory()) stop(Ending::memory);
    if (usage.processes > limits.processes) stop(Ending::processes);
    if (usage.files > static_cast<std::uint64_t>(limits.files)) stop(Ending::disk);
    if (end_.cpu_seconds > limits.cpu_seconds) stop(Ending::cpu_time);
    if (seconds_since(started_) > limits.wall_seconds) stop(Ending::wall_time);
    // If the job's program has ended, the processes that it left behind still hold its output: kill them.
    siginfo_t ended{};
    if (waitid(P_PID, static_cast<id_t>(box_.bubblewrap.id()), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        ended.si_pid != 0)
      kill_first(box_);
  }

  void wait() {
    // A program may close its output and continue.
    siginfo_t ended{};
    while (waitid(P_PID, static_cast<id_t>(box_.bubblewrap.id()), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           ended.si_pid == 0) {
      look();
      poll(nullptr, 0, kEvery / 4);
    }
    const ProcessEnd end = box_.bubblewrap.wait();
    kill_first(box_);
    pollfd gone{box_.first_alive.get(), POLLIN, 0};
    poll(&gone, 1, -1);  // after that nothing is written
    end_.wall_seconds = seconds_since(started_);
    if (stopped_) return;
    // bubblewrap returns 128 + n for a program killed by signal n, as shells do.
    const int code = end.shell_code();
    end_.how = code > 128 && code <= 128 + SIGRTMAX ? Ending::signalled : Ending::exited;
    end_.code = end_.how == Ending::signalled ? code - 128 : code;
    if (end_.how == Ending::signalled && (end_.code == SIGXCPU)) end_.how = Ending::cpu_time;
  }

  const Job& job_;
  Box& box_;
  std::stop_token cancel_;
  CpuMeter meter_;
  Clock::time_point started_;
  bool stopped_ = false;
  End end_;
};

}  // namespace

std::string text_of(const End& end, const Limits& limits) {
  switch (end.how) {
    case Ending::exited:
      return fmt::format("exit code {}", end.code);
    case Ending::signalled:
      return fmt::format("killed by signal {} ({})", end.code, strsignal(end.code));
    case Ending::cpu_time:
      return fmt::format("stopped: more than {} s of CPU time", limits.cpu_seconds);
    case Ending::wall_time:
      return fmt::format("stopped: not done after {} s", limits.wall_seconds);
    case Ending::memory:
      return fmt::format("stopped: more than {} MiB of memory", limits.memory_bytes >> 20);
    case Ending::processes:
      return fmt::format("stopped: more than {} processes and threads", limits.processes);
    case Ending::output:
      return fmt::format("stopped: more than {} KiB of output", limits.output_bytes >> 10);
    case Ending::disk:
      return fmt::format("stopped: more than {} MiB or {} files written", limits.disk_bytes >> 20, limits.files);
    case Ending::cancelled:
      return "stopped on request";
  }
  return "";
}

Result<End> run(const Job& job, std::stop_token cancel) {
  Result<Box> box = make_box(job);
  if (!box) return box.error();
  Status copied = job.work.empty() ? Status(Ok{}) : copy_in(job.work, box->work.get(), box->owner);
  if (!copied) {
    kill_first(*box);
    box->bubblewrap.wait();
    return copied.error();
  }
  End end = Watch(job, *box, std::move(cancel)).go();
  if (!job.work.empty()) {
    auto back = copy_out(box->work.get(), job.work, job.taken, job.limits);
    if (!back) return back.error();
    end.too_large = back.take();
  }
  return end;
}

const std::string& why_none() {
  static const std::string why = [] {
    if (access("/usr/bin/bwrap", X_OK) != 0)
      return std::string("bubblewrap is not installed: apt-get install bubblewrap");
    Job job;
    job.command = {"true"};
    Result<End> tried = run(job);
    if (tried && tried->ok()) return std::string();
    const std::string said = tried ? tried->output : tried.error().message + ": " + tried.error().detail;
    return fmt::format(
        "bubblewrap does not work here ({}). It needs user namespaces without privileges (sysctl "
        "user.max_user_namespaces, "
        "kernel.unprivileged_userns_clone=1 and on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0) and version "
        "0.8 or later",
        said);
  }();
  return why;
}

}  // namespace warpgrind::sandbox
