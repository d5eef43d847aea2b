// Time limits and Ctrl-C: the watchdog thread, and the table of running launches.
#include "device/watchdog.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>

#include "device/state.h"

namespace warpgrind::device {

namespace {

// Slots of running launches: a list of arrays that only grows, so a signal handler can read it at any time. Nothing is
// freed. Few launches run at the same time, and the first array is static: most runs allocate none.
struct Slots {
  std::atomic<Launch*> launches[64];
  std::atomic<Slots*> next{nullptr};
};
static_assert(std::atomic<Launch*>::is_always_lock_free && std::atomic<Slots*>::is_always_lock_free);
Slots g_running;
std::atomic<unsigned> g_requests{0};
std::atomic<unsigned> g_visits{0};

template <class Use>
void for_each_launch(const Use& use) {
  for (Slots* slots = &g_running; slots; slots = slots->next.load())
    for (const std::atomic<Launch*>& slot : slots->launches)
      if (Launch* const launch = slot.load()) use(*launch);
}

// Replaces one `before` in the array. False: there is none.
bool replace(Slots& slots, Launch* before, Launch* after) {
  for (std::atomic<Launch*>& slot : slots.launches) {
    Launch* expected = before;
    if (slot.compare_exchange_strong(expected, after)) return true;
  }
  return false;
}

// The array behind `slots`, which is made if there is none. Another thread may make it at the same time.
Slots* next_or_new(Slots& slots) {
  if (Slots* const next = slots.next.load()) return next;
  auto made = std::make_unique<Slots>();
  Slots* known = nullptr;
  return slots.next.compare_exchange_strong(known, made.get()) ? made.release() : known;
}

void stop(Launch& launch, FaultKind kind) {
  std::uint32_t none = 0;
  launch.stop_reason.compare_exchange_strong(none, static_cast<std::uint32_t>(kind) + 1);
  launch.interrupt.store(1, std::memory_order_release);
}

}  // namespace

void enlist(Launch* launch) {
  Slots* slots = &g_running;
  while (!replace(*slots, nullptr, launch)) slots = next_or_new(*slots);
}

void delist(Launch* launch) {
  Slots* slots = &g_running;
  while (slots && !replace(*slots, launch, nullptr)) slots = slots->next.load();
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
  for_each_launch([](Launch& launch) { stop(launch, FaultKind::interrupted); });
}

bool request_timeout() {
  bool any = false;
  const Visit visit;
  for_each_launch([&](Launch& launch) {
    stop(launch, FaultKind::timeout);
    any = true;
  });
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
