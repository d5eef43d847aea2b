// Child process of `warpgrind run`, and the passing on of signals to it.
#include "cli/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/argument_pointers.h"

namespace warpgrind::cli {

namespace {

volatile std::sig_atomic_t child_process = 0;
volatile std::sig_atomic_t received = 0;
int last_signal = 0;
constexpr int kPassedOn[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

// Passes a signal on to the program. A terminal sends Ctrl-C and similar signals to every process of the group, so the
// program has those already. A signal from kill(1) reaches this process only. (One sent to the whole group arrives
// twice: src/api/session/interrupts.cpp counts both as one.)
void pass_on(int signal, siginfo_t* info, void*) {
  const int before = errno;
  received = signal;
  if (child_process != 0 && info->si_code != SI_KERNEL) kill(child_process, signal);
  errno = before;
}

// Signals that were ignored at our start (nohup, a shell's background job) stay ignored, also in the program.
void pass_signals_on() {
  struct sigaction ours {};
  ours.sa_sigaction = pass_on;
  ours.sa_flags = SA_SIGINFO | SA_RESTART;
  for (const int signal : kPassedOn) {
    struct sigaction before {};
    if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_DFL) sigaction(signal, &ours, nullptr);
  }
}

// Blocks signals from before fork() until this process knows the child and the child has no handler of ours: none is
// lost.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before_);
  }
  ~SignalsBlocked() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  static int waiting() {
    sigset_t set;
    sigpending(&set);
    for (const int signal : kPassedOn)
      if (sigismember(&set, signal) == 1) return signal;
    return 0;
  }
  void lift_in_child() const {
    for (const int signal : kPassedOn) {
      struct sigaction now {};
      if (sigaction(signal, nullptr, &now) == 0 && now.sa_handler != SIG_IGN) std::signal(signal, SIG_DFL);
    }
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t before_;
};

[[noreturn]] void become(const std::vector<std::string>& arguments, const SignalsBlocked& blocked, pid_t parent,
                         int report) {
  const std::vector<char*> argv = argument_pointers(arguments);
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // kept by exec
  if (getppid() != parent) _exit(126);
  blocked.lift_in_child();
  execvp(argv[0], argv.data());
  const int error = errno;
  if (write(report, &error, sizeof error) < 0) _exit(126);
  _exit(126);
}

}  // namespace

Result<int> run_child(const std::vector<std::string>& arguments) {
  auto failure = [&](int error) {
    return Error{ErrorKind::environment, fmt::format("cannot start {}: {}", arguments[0], std::strerror(error)), ""};
  };
  int report[2];  // closed by a successful exec; otherwise carries errno
  if (pipe2(report, O_CLOEXEC) != 0) return failure(errno);
  pass_signals_on();
  {
    const SignalsBlocked blocked;
    const int stop = received != 0 ? static_cast<int>(received) : SignalsBlocked::waiting();
    if (stop != 0) {
      close(report[0]);
      close(report[1]);
      end_by_signal(stop);
      return Error{ErrorKind::environment, fmt::format("stopped by a signal ({})", strsignal(stop)), ""};
    }
    const pid_t self = getpid(), child = fork();
    if (child == 0) become(arguments, blocked, self, report[1]);
    const int no_fork = errno;
    close(report[1]);
    if (child < 0) {
      close(report[0]);
      return failure(no_fork);
    }
    child_process = child;
  }
  int error = 0;
  ssize_t got = 0;
  do got = read(report[0], &error, sizeof error);
  while (got < 0 && errno == EINTR);
  close(report[0]);
  int status = 0;
  while (waitpid(child_process, &status, 0) < 0 && errno == EINTR) {
  }
  child_process = 0;
  if (got == sizeof error) return failure(error);
  return status;
}

int signal_received() {
  return received;
}

void end_by_signal(int signal) {
  last_signal = signal;
}

int end(int code) {
  if (last_signal == 0) return code;
  std::signal(last_signal, SIG_DFL);
  std::raise(last_signal);
  return code;
}

}  // namespace warpgrind::cli
