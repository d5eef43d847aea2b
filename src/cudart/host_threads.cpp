#include "cudart/host_threads.h"

#include <dlfcn.h>

#include <cstring>
#include <map>
#include <memory>
#include <mutex>

#include "cudart/executor.h"
#include "cudart/runtime.h"

namespace warpgrind::cudart {

namespace {

using Clock = std::shared_ptr<timing::HostClock>;

// Never destroyed: threads may end later.
struct Running {
  std::mutex mutex;
  std::map<pthread_t, Clock> clocks;
};
Running& running() {
  static auto* const threads = new Running;
  return *threads;
}

bool is_ours(const void* address) {
  Dl_info here{}, there{};
  return ::dladdr(reinterpret_cast<const void*>(&is_ours), &here) && ::dladdr(address, &there) &&
         here.dli_fbase == there.dli_fbase;
}

// Our own threads have no time, and are made where locks are held. std::thread gives the C library a function of its
// own and an object whose virtual table lies where the thread was written.
bool is_our_thread(StartRoutine start, const void* argument) {
  const auto* function = reinterpret_cast<const void*>(start);
  if (is_ours(function)) return true;
  Dl_info info{};
  if (!argument || !::dladdr(function, &info) || !info.dli_fname) return false;
  return std::strstr(info.dli_fname, "libstdc++") && is_ours(*static_cast<const void* const*>(argument));
}

bool time_passes() {
  return session::Session::exists() && !the_session().broken_by_fork() && the_session().used() &&
         !the_session().ended();
}

}  // namespace

void* thread_made(StartRoutine start, const void* argument) {
  if (!time_passes() || is_our_thread(start, argument)) return nullptr;
  auto begun = std::make_shared<timing::HostClock>();
  Executor::instance().ledger().add([host = take_host_time(), begun] {
    host.pay();
    timing::Timeline& time = the_session().timeline();
    time.synchronize_time(*begun, time.now(*host.clock));
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
    timing::Timeline& time = the_session().timeline();
    time.synchronize_time(*host.clock, time.now(*ended));
  });
}

}  // namespace warpgrind::cudart
