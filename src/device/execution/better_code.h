// From the quick code of a new kernel to the code that its size asks for (jit/compile/tier.h). Quick code runs until it
// has run for as long as the better code takes to make. That is at most twice the time of the best choice, whatever the
// program does next (the ski rental problem). Then the next launch begins with the better code. A launch that runs for
// longer than that gets it while it runs, from a thread of its own: warps that begin, and those that go on after a
// barrier, run it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "base/host_thread.h"

namespace warpgrind::device {

struct KernelRecord;
struct Launch;

// Makes the better code now if the quick code has run for long enough.
void improve_if_due(KernelRecord& kernel);

class BetterCode {
 public:
  ~BetterCode();
  // Between both calls the launch gets the better code as soon as it is due. release() waits while it is being made. A
  // launch whose kernel has no better code is left alone, and so is one where the host allows no more threads.
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
  Clock::time_point wakes_ = Clock::time_point::min();  // of the thread; min: it runs, and looks again before it waits
  bool quit_ = false;
  HostThread thread_;
};

}  // namespace warpgrind::device
