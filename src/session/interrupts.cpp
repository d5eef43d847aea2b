#include "session/interrupts.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <mutex>

#include "device/device.h"

namespace warpgrind::session {

namespace {
std::atomic<int> running_kernels{0};
// `warpgrind run` passes on what was sent to it; what was sent to the whole process group comes a second time, from
// there. Counted apart, one request is one, whichever way it takes.
std::atomic<int> from_parent{0}, from_others{0};

void die(int signal) {
  sigset_t set;  // threads that run kernels block it
  sigemptyset(&set);
  sigaddset(&set, signal);
  std::signal(signal, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  std::raise(signal);
}

extern "C" void on_interrupt(int signal, siginfo_t* info, void*) {
  const bool passed_on = info->si_code == SI_USER && info->si_pid == getppid();
  const int seen = passed_on ? ++from_parent : ++from_others;
  if (seen <= (passed_on ? from_others : from_parent).load()) return;  // the second way of a request that was served
  if (running_kernels.load() == 0 || seen > 1) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    std::signal(signal, SIG_DFL);
    sigprocmask(SIG_UNBLOCK, &set, nullptr);
    std::raise(signal);
    return;
  }
  device::request_interrupt();
}

void install() {
  struct sigaction current {};
  if (sigaction(SIGINT, nullptr, &current) != 0 || current.sa_handler != SIG_DFL) return;
  struct sigaction ours {};
  ours.sa_sigaction = on_interrupt;
  ours.sa_flags = SA_RESTART | SA_SIGINFO;
  sigaction(SIGINT, &ours, nullptr);
}
}  // namespace

RunningKernel::RunningKernel() {
  static std::once_flag once;
  std::call_once(once, install);
  running_kernels++;
}

RunningKernel::~RunningKernel() {
  running_kernels--;
}

void RunningKernel::die_of_interrupt() {
  die(SIGINT);
  _exit(130);
}

}  // namespace warpgrind::session
