#include "session/interrupts.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <mutex>

#include "device/device.h"

namespace warpgrind::session {

namespace {
std::atomic<int> running_kernels{0};
std::atomic<bool> asked{false};

void die(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

extern "C" void on_interrupt(int signal) {
  if (running_kernels.load() == 0 || asked.exchange(true)) {
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
  ours.sa_handler = on_interrupt;
  ours.sa_flags = SA_RESTART;
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
