// Time limits and Ctrl-C: the watchdog thread, and the table of running launches.
#include "device/watchdog.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "device/state.h"

namespace warpgrind::device {

namespace {

// Few launches run at the same time. A fixed table can be read in a signal handler.
std::atomic<Launch*> g_running[64];
std::atomic<unsigned> g_requests{0};
std::atomic<unsigned> g_visits{0};

void stop(Launch& launch, FaultKind kind) {
  std::uint32_t none = 0;
  launch.stop_reason.compare_exchange_strong(none, static_cast<std::uint32_t>(kind) + 1);
  launch.interrupt.store(1, std::memory_order_release);
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
    if (slot.compare_exchange_strong(mine, nullptr)) break;
  }
  // A visit sets a few flags. Its thread may have lost its processor meanwhile.
  while (g_visits.load() != 0) sched_yield();
}

Visit::Visit() {
  ++g_visits;
}
Visit::~Visit() {
  --g_visits;
}

unsigned interrupts_requested() {
  return g_requests.load();
}

void interrupt_if_requested_since(Launch& launch, unsigned before) {
  if (g_requests.load() != before) stop(launch, FaultKind::interrupted);
}

void abandon(Launch& launch) {
  launch.stop = true;
  launch.interrupt.store(1, std::memory_order_release);
}

void request_interrupt() {
  ++g_requests;
  const Visit visit;
  for (auto& slot : g_running)
    if (Launch* launch = slot.load()) stop(*launch, FaultKind::interrupted);
}

bool request_timeout() {
  bool any = false;
  const Visit visit;
  for (auto& slot : g_running)
    if (Launch* launch = slot.load()) {
      stop(*launch, FaultKind::timeout);
      any = true;
    }
  return any;
}

Watchdog::~Watchdog() {
  if (!thread_.started()) return;
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

bool Watchdog::start() {
  const std::lock_guard lock(mutex_);
  return thread_.started() || thread_.start([this] { loop(); }, HostThread::Signals::none);
}

void Watchdog::watch(Launch* launch, double seconds) {
  {
    const std::lock_guard lock(mutex_);
    watched_.push_back(
        {launch, Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))});
  }
  changed_.notify_one();
}

void Watchdog::release(Launch* launch) {
  const std::lock_guard lock(mutex_);
  std::erase_if(watched_, [&](const Watched& w) { return w.launch == launch; });
}

void Watchdog::loop() {
  std::unique_lock lock(mutex_);
  while (!quit_) {
    const auto now = Clock::now();
    std::erase_if(watched_, [&](const Watched& w) {
      if (w.deadline > now) return false;
      stop(*w.launch, FaultKind::timeout);
      return true;
    });
    if (watched_.empty()) {
      changed_.wait(lock);
      continue;
    }
    auto until = watched_.front().deadline;
    for (const Watched& w : watched_) until = std::min(until, w.deadline);
    changed_.wait_until(lock, until);
  }
}

}  // namespace warpgrind::device
