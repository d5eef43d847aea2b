// Watchdog: stops launches that run longer than their limit.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "base/host_thread.h"

namespace warpgrind::device {

struct Launch;

// Ctrl-C must also stop a launch whose kernel is still being compiled. Read the number before compiling; call the
// second function once the launch runs.
unsigned interrupts_requested();
void interrupt_if_requested_since(Launch& launch, unsigned before);

class Watchdog {
 public:
  ~Watchdog();
  bool start();  // starts the thread once; false: the host allows no more threads
  void watch(Launch* launch, double seconds);
  void release(Launch* launch);

 private:
  using Clock = std::chrono::steady_clock;
  struct Watched {
    Launch* launch = nullptr;
    Clock::time_point deadline;
  };
  void loop();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Watched> watched_;  // a few grids at most run at the same time
  bool quit_ = false;
  HostThread thread_;
};

}  // namespace warpgrind::device
