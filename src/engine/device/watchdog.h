// Watchdog: stops launches that run longer than their limit, or that make no progress.
//
// It also lets warps take turns at heads of loops, for 2 ms every 100 ms. That begins when no block of a launch has
// begun for 10 s. A warp may wait in a loop that flow/spin_loops.h does not find, for a block that has no worker. A
// kernel without such a loop loses 2 % from then on, and some 10 % if its blocks have barriers and more of them then
// run at once.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

#include "base/host_thread.h"

namespace warpgrind::device {

class Device;
struct Launch;

// Ctrl-C must also stop a launch whose kernel is still being compiled. Read the number before compiling; call the
// second function once the launch runs.
unsigned interrupts_requested();
void interrupt_if_requested_since(Launch& launch, unsigned before);

// Adds to the running launches, for request_interrupt(), and removes from them. A launch ends with its function call,
// but a signal handler or another thread may still use it: delist() waits for each Visit that began before it.
void enlist(Launch* launch);
void delist(Launch* launch);
// Hold one while using launches that others run. Async-signal-safe.
class Visit {
 public:
  Visit();
  ~Visit();
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;
};
// Ends the launch without a fault of its own.
void abandon(Launch& launch);

// For tests: the time without a new block before warps take turns, in place of 10 s.
void set_time_before_turns(std::chrono::milliseconds time);

class Watchdog {
 public:
  ~Watchdog();
  // Starts the thread once, for the launches of this device. False: the host allows no more threads.
  bool start(const Device& device);
  // `seconds`: of the clock. `stall_seconds`: CPU time of this process during which a block of the launch must end; a
  // busy machine does not stop a launch that merely waits for a processor. 0: no limit.
  void watch(Launch* launch, double seconds, double stall_seconds);
  void release(Launch* launch);

 private:
  using Clock = std::chrono::steady_clock;
  struct Watched {
    Launch* launch = nullptr;
    Clock::time_point deadline;
    double stall_seconds = 0;
    double progress_at = 0;  // CPU time of the process when `ended` changed
    std::uint64_t ended = 0;
  };
  static bool has_stalled(Watched& watched, double cpu_seconds);
  // Begins and ends periods of turns. Returns when it has to be called again.
  Clock::time_point look_at_loops(Clock::time_point now) const;
  void loop();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Watched> watched_;  // a few grids at most run at the same time
  bool quit_ = false;
  std::atomic<const Device*> device_{nullptr};  // set: the thread has started
  HostThread thread_;
};

}  // namespace warpgrind::device
