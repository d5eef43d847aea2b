// Stops a launch that runs longer than its limit.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace warpgrind::device {

struct Launch;

// Ctrl-C also means a launch whose kernel is still being compiled: it asks before, and again once it runs.
unsigned interrupts_requested();
void interrupt_if_requested_since(Launch& launch, unsigned before);

class Watchdog {
 public:
  ~Watchdog();
  void watch(Launch* launch, double seconds);  // starts its thread at the first use
  void release();

 private:
  void loop();

  std::mutex mutex_;
  std::condition_variable changed_;
  Launch* launch_ = nullptr;
  std::chrono::steady_clock::time_point deadline_;
  bool quit_ = false;
  std::thread thread_;
};

}  // namespace warpgrind::device
