// Switch from the quick code of a new kernel to its better code (jit/compile/tier.h). Quick code is used until it has
// run as long as compiling better code takes, in this process and earlier ones: the disk cache keeps the time. That
// costs at most twice the time of the best choice, whatever the program does next (the ski rental problem). The next
// launch then begins with better code. A launch that runs longer gets better code while it runs, compiled by a separate
// thread. Warps that begin, or go on after a barrier, then use it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "base/host_thread.h"

namespace warpgrind::device {

struct KernelRecord;
struct Launch;

// Compiles the better code now if the quick code has run long enough.
void improve_if_due(KernelRecord& kernel);

class BetterCode {
 public:
  ~BetterCode();
  // Between watch() and release(), the launch gets better code as soon as it is due. release() waits while it is being
  // compiled. watch() does nothing if the kernel has no better code, or if the host allows no more threads.
  void watch(Launch* launch, KernelRecord& kernel);
  void release(Launch* launch);

 private:
  using Clock = std::chrono::steady_clock;
  struct Watched {
    Launch* launch = nullptr;
    KernelRecord* kernel = nullptr;
    Clock::time_point due;
    bool being_made = false;
  };
  Watched* find(const Launch* launch);
  void loop();

  std::mutex mutex_;
  std::condition_variable changed_, made_;
  std::vector<Watched> watched_;                        // a few grids at most run at the same time
  Clock::time_point wakes_ = Clock::time_point::min();  // wake-up time; min: the thread runs, and checks again first
  bool quit_ = false;
  HostThread thread_;
};

}  // namespace warpgrind::device
