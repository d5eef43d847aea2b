// Time limits and Ctrl-C: the watchdog thread, and the table of running launches.
#include "device/watchdog.h"

#include <sched.h>
#include <time.h>

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

constexpr std::chrono::milliseconds kBetweenLooks{50};  // at the progress of launches
// Periods of turns (watchdog.h).
constexpr std::chrono::milliseconds kBetweenTurns{100}, kTurns{2}, kBetweenLoopLooks{500};
constexpr std::int64_t kMillisecondsBeforeTurns = 10'000;
std::atomic<std::int64_t> g_before_turns{kMillisecondsBeforeTurns};

// CPU time of all threads of this process.
double process_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void stop(Launch& launch, FaultKind kind) {
  if (launch.faulty_block.load() != kNoBlock) return abandon(launch);  // its fault is known
  std::uint32_t none = 0;
  launch.stop_reason.compare_exchange_strong(none, static_cast<std::uint32_t>(kind) + 1);
  launch.interrupt.store(kInterruptStop, std::memory_order_release);
}

// Blocks that workers have taken. A range on its way to a thief counts as taken for a moment.
std::uint64_t taken_blocks(const Launch& launch) {
  if (!launch.shares) return launch.next_block.load(std::memory_order_relaxed);
  std::uint64_t left = 0;
  for (unsigned i = 0; i < launch.workers; ++i) left += (*launch.all_workers)[i]->share.left();
  return launch.blocks - left;
}

// Begins or ends a period of turns in a launch if it is time.
void update_turns(Launch& launch, std::chrono::steady_clock::time_point now) {
  LoopTurns& turns = launch.loop_turns;
  const std::uint64_t begun = taken_blocks(launch);
  if (turns.periods == 0 && begun != turns.begun) {
    turns.begun = begun;
    turns.next = now + std::chrono::milliseconds(g_before_turns.load(std::memory_order_relaxed));
  }
  if (now < turns.next) return;
  // A block before the faulty one may wait for a block that was dropped, and a later one may have no end.
  if (launch.faulty_block.load() != kNoBlock) return abandon(launch);
  turns.on = !turns.on;
  launch.turns_period.store(turns.on ? ++turns.periods : 0, std::memory_order_relaxed);
  if (turns.on)
    launch.interrupt.fetch_or(kInterruptTurns, std::memory_order_release);
  else
    launch.interrupt.fetch_and(~kInterruptTurns, std::memory_order_release);
  turns.next = now + (turns.on ? kTurns : kBetweenTurns);
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

void set_time_before_turns(std::chrono::milliseconds time) {
  g_before_turns.store(time.count(), std::memory_order_relaxed);
}

void abandon(Launch& launch) {
  launch.stop = true;
  launch.interrupt.store(kInterruptStop, std::memory_order_release);
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

bool Watchdog::start(const Device& device) {
  if (device_.load(std::memory_order_acquire)) return true;
  const std::lock_guard lock(mutex_);
  if (!thread_.started() && !thread_.start([this] { loop(); }, HostThread::Signals::none)) return false;
  device_.store(&device, std::memory_order_release);
  return true;
}

void Watchdog::watch(Launch* launch, double seconds, double stall_seconds) {
  const auto limit = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  {
    const std::lock_guard lock(mutex_);
    watched_.push_back({launch, seconds > 0 ? Clock::now() + limit : Clock::time_point::max(), stall_seconds,
                        process_seconds(), launch->ended_blocks.load()});
  }
  changed_.notify_one();
}

void Watchdog::release(Launch* launch) {
  const std::lock_guard lock(mutex_);
  std::erase_if(watched_, [&](const Watched& w) { return w.launch == launch; });
}

bool Watchdog::has_stalled(Watched& watched, double cpu_seconds) {
  if (watched.stall_seconds <= 0) return false;
  const std::uint64_t ended = watched.launch->ended_blocks.load();
  if (ended != watched.ended) {
    watched.ended = ended;
    watched.progress_at = cpu_seconds;
  }
  return cpu_seconds - watched.progress_at > watched.stall_seconds;
}

Watchdog::Clock::time_point Watchdog::look_at_loops(Clock::time_point now) const {
  const Device* const device = device_.load(std::memory_order_acquire);
  Clock::time_point next = now + kBetweenLoopLooks;
  const Visit visit;
  for_each_launch([&](Launch& launch) {
    // An order that preempts has turns of its own, and a debugger goes back by equal turns.
    if (launch.device != device || launch.schedule.preempts() || launch.stops) return;
    update_turns(launch, now);
    next = std::min(next, launch.loop_turns.next);
  });
  return next;
}

void Watchdog::loop() {
  std::unique_lock lock(mutex_);
  while (!quit_) {
    const auto now = Clock::now();
    const double cpu_seconds = process_seconds();
    std::erase_if(watched_, [&](Watched& w) {
      const bool stalled = has_stalled(w, cpu_seconds);
      if (!stalled && w.deadline > now) return false;
      w.launch->stalled = stalled;
      stop(*w.launch, FaultKind::timeout);
      return true;
    });
    auto until = look_at_loops(now);
    for (const Watched& w : watched_) until = std::min(until, w.stall_seconds > 0 ? now + kBetweenLooks : w.deadline);
    changed_.wait_until(lock, until);
  }
}

}  // namespace warpgrind::device
