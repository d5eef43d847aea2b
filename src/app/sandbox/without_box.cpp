// Run of a job without a box, as the current user.
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <optional>

#include "sandbox/descriptor.h"
#include "sandbox/sandbox.h"

namespace warpgrind::sandbox {

namespace {

using Clock = std::chrono::steady_clock;

// Runs in the child: only system calls.
[[noreturn]] void become(char* const* arguments, const char* folder, int output, rlim_t cpu_seconds) {
  setsid();
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int nothing = open("/dev/null", O_RDONLY);
  const rlimit cpu{cpu_seconds, cpu_seconds + 1};
  setrlimit(RLIMIT_CPU, &cpu);
  if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0 || chdir(folder) != 0)
    _exit(126);
  execvp(arguments[0], arguments);
  _exit(127);
}

End ended(int status, End end) {
  const bool signalled = WIFSIGNALED(status);
  end.how = !signalled ? Ending::exited : WTERMSIG(status) == SIGXCPU ? Ending::cpu_time : Ending::signalled;
  end.code = signalled ? WTERMSIG(status) : WEXITSTATUS(status);
  return end;
}

}  // namespace

Result<End> run_without_box(const Job& job, std::stop_token cancel) {
  std::array<int, 2> ends{};
  if (job.command.empty() || pipe2(ends.data(), O_CLOEXEC) != 0)
    return Error{ErrorKind::environment, fmt::format("cannot run: {}", std::strerror(errno)), ""};
  Descriptor output(ends[0]), input(ends[1]);
  std::vector<char*> arguments;
  for (const std::string& word : job.command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const std::string folder = job.work.empty() ? "/" : job.work.string();
  const auto started = Clock::now();
  const pid_t child = fork();
  if (child == 0)
    become(arguments.data(), folder.c_str(), input.get(), static_cast<rlim_t>(job.limits.cpu_seconds) + 1);
  if (child < 0) return Error{ErrorKind::environment, fmt::format("no new process: {}", std::strerror(errno)), ""};
  input.reset();
  End end;
  std::optional<Ending> stopped;
  int status = 0;
  bool open = true, alive = true;
  std::array<char, 1 << 16> buffer;
  while (open || alive) {
    pollfd waiting{open ? output.get() : -1, POLLIN, 0};
    if (poll(&waiting, 1, 20) > 0) {
      const ssize_t got = read(output.get(), buffer.data(), buffer.size());
      open = got > 0 || (got < 0 && errno == EINTR);
      const std::uint64_t room = job.limits.output_bytes - end.output.size();
      const std::string_view more(buffer.data(), std::min<std::uint64_t>(got > 0 ? got : 0, room));
      end.output += more;
      if (job.on_output && !more.empty()) job.on_output(more);
      if (got > 0 && static_cast<std::uint64_t>(got) > room && !stopped) stopped = Ending::output;
    }
    const std::chrono::duration<double> took = Clock::now() - started;
    if (!stopped && took.count() > job.limits.wall_seconds) stopped = Ending::wall_time;
    if (!stopped && cancel.stop_requested()) stopped = Ending::cancelled;
    if (stopped) kill(-child, SIGKILL);
    if (alive && waitpid(child, &status, WNOHANG) == child) {
      alive = false;
      kill(-child, SIGKILL);  // processes left behind, which may hold the output
    }
    end.wall_seconds = took.count();
    if (!alive && took.count() > job.limits.wall_seconds) break;  // a process in another session still holds our pipe
  }
  if (stopped) {
    end.how = *stopped;
    return end;
  }
  return ended(status, std::move(end));
}

}  // namespace warpgrind::sandbox
