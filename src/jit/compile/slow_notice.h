// Says once, after a while, that something still goes on. A thread of its own waits; what it watches does not.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>

#include "base/host_thread.h"

namespace warpgrind::jit {

class SlowNotice {
 public:
  // Calls `say` from another thread when this object lives longer than `seconds`; 0: this one does, at once. Null:
  // nothing happens. Where the host allows no more threads the notice is lost, and nothing else.
  SlowNotice(double seconds, std::function<void()> say);
  SlowNotice(const SlowNotice&) = delete;
  SlowNotice& operator=(const SlowNotice&) = delete;
  ~SlowNotice();

 private:
  void wait();
  const double seconds_;
  const std::function<void()> say_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;
  HostThread thread_;
};

}  // namespace warpgrind::jit
