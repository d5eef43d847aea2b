// Handler of SIGINT, SIGTERM and SIGPIPE, and the thread that reports results before the process ends.
#include "session/interrupts.h"

#include <semaphore.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <mutex>
#include <thread>
#include <utility>

#include "base/host_thread.h"
#include "device/device.h"

namespace warpgrind::session {

namespace {
std::atomic<int> running_kernels{0};
// `warpgrind run` passes on the signals that it receives. So a signal to the whole process group arrives twice: once
// directly, once from the parent. Two counters recognise the pair as one request.
std::atomic<int> from_parent{0}, from_others{0};
std::atomic<int> received_signal{0};  // the signal that was received
std::atomic<pid_t> reporter{0};       // process whose thread waits for `requested`; a forked child has no such thread
sem_t requested;

void die(int signal) {
  sigset_t set;  // threads that run kernels block the signal
  sigemptyset(&set);
  sigaddset(&set, signal);
  std::signal(signal, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  std::raise(signal);
}

extern "C" void on_interrupt(int signal, siginfo_t* info, void*) {
  const bool reports = reporter.load() == getpid(), runs = running_kernels.load() != 0;
  // timeout(1) sends SIGTERM to its child and to the group: both are one request. SIGPIPE after a first signal is
  // ignored too, as a closed pipe may be written to again during the report.
  const int signal_before = received_signal.load();
  if (reports && ((signal == SIGTERM && signal_before == SIGTERM) || (signal == SIGPIPE && signal_before))) return;
  const bool passed_on = info->si_code == SI_USER && info->si_pid == getppid();
  const int seen = passed_on ? ++from_parent : ++from_others;
  if (seen <= (passed_on ? from_others : from_parent).load()) return;  // second arrival of a handled request
  if (seen > 1 || (!reports && (!runs || signal != SIGINT))) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    std::signal(signal, SIG_DFL);
    sigprocmask(SIG_UNBLOCK, &set, nullptr);
    std::raise(signal);
    return;
  }
  received_signal = signal;
  if (runs) device::request_interrupt();
  if (reports) sem_post(&requested);
}

void install(int signal) {
  struct sigaction current {};
  if (sigaction(signal, nullptr, &current) != 0 || current.sa_handler != SIG_DFL) return;
  struct sigaction ours {};
  ours.sa_sigaction = on_interrupt;
  ours.sa_flags = SA_RESTART | SA_SIGINFO;
  sigaction(signal, &ours, nullptr);
}
}  // namespace

RunningKernel::RunningKernel() {
  static std::once_flag once;
  std::call_once(once, [] { install(SIGINT); });
  running_kernels++;
}

RunningKernel::~RunningKernel() {
  running_kernels--;
}

void RunningKernel::die_of_interrupt() {
  const int signal = received_signal.load();
  die(signal);
  _exit(128 + signal);
}

bool report_before_signals(std::function<void()> report) {
  if (sem_init(&requested, 0, 0) != 0) return false;
  const auto wait = [report = std::move(report)] {
    while (sem_wait(&requested) != 0 && errno == EINTR) {
    }
    // A stopped kernel ends the process itself, after the report of its position.
    constexpr std::chrono::milliseconds kGrace(3000), kStep(10);
    for (auto waited = kStep; running_kernels.load() != 0 && waited < kGrace; waited += kStep)
      std::this_thread::sleep_for(kStep);
    report();
    die(received_signal.load());
  };
  HostThread thread;
  if (!thread.start(wait, HostThread::Signals::none)) return false;
  thread.detach();
  reporter = getpid();
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) install(signal);
  return true;
}

}  // namespace warpgrind::session
