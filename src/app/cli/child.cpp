// Child process of `warpgrind run`, and the passing on of signals to it.
#include "cli/child.h"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>

#include "base/assert.h"
#include "base/signal_mask.h"

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

// A signal of kPassedOn that is blocked and pending; 0: none.
int pending_signal() {
  sigset_t set;
  sigpending(&set);
  for (const int signal : kPassedOn)
    if (sigismember(&set, signal) == 1) return signal;
  return 0;
}

}  // namespace

Result<ProcessEnd> run_child(ProcessCommand command) {
  command.inherits_files = true;
  command.death_signal = SIGKILL;
  WG_ASSERT(child_process == 0);  // pass_on() serves one child at a time
  pass_signals_on();
  std::optional<Process> child;
  {
    // Blocked from before the start of the child until pass_on() knows it, so that no signal is lost.
    const SignalMask blocked = SignalMask::block(all_signals());
    const int stop = received != 0 ? static_cast<int>(received) : pending_signal();
    if (stop != 0) {
      end_by_signal(stop);
      return Error{ErrorKind::environment, fmt::format("stopped by a signal ({})", strsignal(stop)), ""};
    }
    command.blocked = &blocked.before();
    auto started = start_process(command);
    if (!started) return started.error();
    child = started.take();
    child_process = child->id();
  }
  return child->wait([] { child_process = 0; });
}

void stop_passing_signals_on() {
  for (const int signal : kPassedOn) {
    struct sigaction now {};
    if (sigaction(signal, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == pass_on)
      std::signal(signal, SIG_DFL);
  }
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
