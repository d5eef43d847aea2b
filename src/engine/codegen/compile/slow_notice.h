// A notice, given once, that something takes long. A thread of its own waits; the watched thread does not.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>

#include "base/host_thread.h"

namespace warpgrind::jit {

class SlowNotice {
 public:
  // Calls `say` from another thread if this object lives longer than `seconds`. 0: calls it from this thread, at once.
  // Null: does nothing. If the host allows no more threads, only the notice is lost.
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
