#include "codegen/compile/slow_notice.h"

#include <chrono>

namespace warpgrind::jit {

SlowNotice::SlowNotice(double seconds, std::function<void()> say) : seconds_(seconds), say_(std::move(say)) {
  if (say_ && seconds <= 0)
    say_();
  else if (say_)
    thread_.start([this] { wait(); }, HostThread::Signals::none);
}

SlowNotice::~SlowNotice() {
  if (!thread_.started()) return;
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  ended_.notify_one();
  thread_.join();
}

void SlowNotice::wait() {
  std::unique_lock lock(mutex_);
  if (!ended_.wait_for(lock, std::chrono::duration<double>(seconds_), [&] { return over_; })) say_();
}

}  // namespace warpgrind::jit
