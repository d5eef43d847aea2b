// Child processes with captured output, a time limit, and the handling of Ctrl-C.
#include "lab/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>

#include "base/argument_pointers.h"
#include "base/installation.h"

namespace warpgrind::lab {

namespace {

volatile std::sig_atomic_t stop_signal = 0;
void on_signal(int signal) {
  stop_signal = signal;
}

struct Pipe {
  int ends[2] = {-1, -1};
  bool open() { return pipe2(ends, O_CLOEXEC) == 0; }
  ~Pipe() {
    for (int end : ends)
      if (end >= 0) close(end);
  }
  void close_writer() {
    close(ends[1]);
    ends[1] = -1;
  }
};

[[noreturn]] void become(const std::vector<std::string>& arguments, const std::string& library, pid_t parent, int out,
                         int err) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(127);  // the parent ended before prctl()
  if (!library.empty()) put_first_in_library_path(library);
  const std::vector<char*> argv = argument_pointers(arguments);
  const int nothing = ::open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  execvp(argv[0], argv.data());
  _exit(127);
}

// False at the end of the stream.
bool read_some(int fd, std::string& into) {
  char buffer[65536];
  const ssize_t n = read(fd, buffer, sizeof buffer);
  if (n > 0) into.append(buffer, static_cast<std::size_t>(n));
  return n > 0 || (n < 0 && errno == EINTR);
}

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() {
  return stop_signal != 0;
}

ProcessResult run_captured(const std::vector<std::string>& arguments, const ProcessSettings& settings) {
  ProcessResult result;
  Pipe out, err;
  if (!out.open() || !err.open()) return result;
  const pid_t self = getpid(), child = fork();
  if (child < 0) return result;
  if (child == 0) become(arguments, settings.library, self, out.ends[1], err.ends[1]);
  out.close_writer();
  err.close_writer();

  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  constexpr int kTickMs = 200;
  bool out_open = true, err_open = true, told = false;
  while (out_open || err_open) {
    pollfd fds[2] = {{out_open ? out.ends[0] : -1, POLLIN, 0}, {err_open ? err.ends[0] : -1, POLLIN, 0}};
    const int ready = poll(fds, 2, kTickMs);
    if (ready > 0) {
      if (fds[0].revents) out_open = read_some(out.ends[0], result.output);
      if (fds[1].revents) err_open = read_some(err.ends[0], result.errors);
    }
    if (settings.on_tick) settings.on_tick(settings.tick_data);
    const double elapsed = std::chrono::duration<double>(Clock::now() - begin).count();
    result.timed_out = settings.seconds > 0 && elapsed > settings.seconds;
    if (result.timed_out) kill(child, SIGKILL);
    if (interrupted() && !told) {  // a terminal signals the child, too; kill(1) does not
      kill(child, SIGINT);
      told = true;
    }
    if (result.timed_out) break;
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace warpgrind::lab
