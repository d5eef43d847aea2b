#include "device/execution/watchdog.h"

#include <signal.h>

#include <atomic>
#include <cstdint>

#include "device/execution/state.h"

namespace warpgrind::device {

namespace {

// A few devices at most run at the same time; a fixed table can be read in a signal handler.
std::atomic<Launch*> g_running[64];
std::atomic<unsigned> g_requests{0};

void stop(Launch& launch, FaultKind kind) {
  std::uint32_t none = 0;
  launch.stop_reason.compare_exchange_strong(none, static_cast<std::uint32_t>(kind) + 1);
  launch.interrupt = 1;
}

}  // namespace

void enlist(Launch* launch) {
  for (auto& slot : g_running) {
    Launch* empty = nullptr;
    if (slot.compare_exchange_strong(empty, launch)) return;
  }
}

void delist(Launch* launch) {
  for (auto& slot : g_running) {
    Launch* mine = launch;
    if (slot.compare_exchange_strong(mine, nullptr)) return;
  }
}

unsigned interrupts_requested() {
  return g_requests.load();
}

void interrupt_if_requested_since(Launch& launch, unsigned before) {
  if (g_requests.load() != before) stop(launch, FaultKind::interrupted);
}

void request_interrupt() {
  ++g_requests;
  for (auto& slot : g_running)
    if (Launch* launch = slot.load()) stop(*launch, FaultKind::interrupted);
}

Watchdog::~Watchdog() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Watchdog::watch(Launch* launch, double seconds) {
  {
    const std::lock_guard lock(mutex_);
    launch_ = launch;
    deadline_ = std::chrono::steady_clock::now() +
                std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds));
    if (!thread_.joinable()) {
      sigset_t all, before;
      sigfillset(&all);
      pthread_sigmask(SIG_SETMASK, &all, &before);
      thread_ = std::thread([this] { loop(); });
      pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }
  }
  changed_.notify_one();
}

void Watchdog::release() {
  const std::lock_guard lock(mutex_);
  launch_ = nullptr;
}

void Watchdog::loop() {
  std::unique_lock lock(mutex_);
  while (!quit_) {
    if (!launch_) {
      changed_.wait(lock);
      continue;
    }
    if (std::chrono::steady_clock::now() >= deadline_) {
      stop(*launch_, FaultKind::timeout);
      launch_ = nullptr;
      continue;
    }
    const auto until = deadline_;
    changed_.wait_until(lock, until);
  }
}

}  // namespace warpgrind::device
