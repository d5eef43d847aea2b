// Virtual clocks of the program's threads: creation, start and join.
#include "runtime/host_threads.h"

#include <dlfcn.h>

#include <map>
#include <memory>
#include <mutex>

#include "semantics/executor.h"
#include "semantics/state.h"

namespace warpgrind::runtime {

using namespace semantics;

namespace {

using Clock = std::shared_ptr<timing::HostClock>;

// Never destroyed: threads may end after the static destructors have run.
struct Running {
  std::mutex mutex;
  std::map<pthread_t, Clock> clocks;
};
Running& running() {
  static auto* const threads = new Running;
  return *threads;
}

// True for our own threads (base/host_thread.h). They have no virtual clock, and are created while locks are held.
bool is_ours(StartRoutine start) {
  Dl_info here{}, there{};
  return ::dladdr(reinterpret_cast<const void*>(&is_ours), &here) &&
         ::dladdr(reinterpret_cast<const void*>(start), &there) && here.dli_fbase == there.dli_fbase;
}

bool time_passes() {
  return session::Session::exists() && !session::run().broken_by_fork() && session::run().used() &&
         !session::run().ended();
}

}  // namespace

void* thread_made(StartRoutine start) {
  if (!time_passes() || is_ours(start)) return nullptr;
  auto begun = std::make_shared<timing::HostClock>();
  Executor::instance().ledger().add([host = take_host_time(), begun] {
    host.pay();
    timing::Timeline& time = session::timeline();
    time.catch_up(*begun, time.now(*host.clock));
  });
  return new Clock(std::move(begun));
}

void thread_begins(void* made) {
  const std::unique_ptr<Clock> clock(static_cast<Clock*>(made));
  thread_state().clock = *clock;
  const std::lock_guard lock(running().mutex);
  running().clocks[::pthread_self()] = *clock;
}

void thread_joined(pthread_t thread) {
  if (!time_passes()) return;
  Clock ended;
  {
    const std::lock_guard lock(running().mutex);
    const auto it = running().clocks.find(thread);
    if (it == running().clocks.end()) return;
    ended = std::move(it->second);
    running().clocks.erase(it);
  }
  Executor::instance().ledger().add([host = take_host_time(), ended] {
    host.pay();
    timing::Timeline& time = session::timeline();
    time.catch_up(*host.clock, time.now(*ended));
  });
}

}  // namespace warpgrind::runtime
