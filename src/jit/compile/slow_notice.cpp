#include "jit/compile/slow_notice.h"

#include <chrono>

namespace warpgrind::jit {

// pthread_create and not std::thread: where the host allows no more threads the notice is lost, and nothing else.
SlowNotice::SlowNotice(double seconds, std::function<void()> say) : seconds_(seconds), say_(std::move(say)) {
  if (say_ && seconds <= 0)
    say_();
  else if (say_)
    running_ = pthread_create(&thread_, nullptr, &SlowNotice::wait, this) == 0;
}

SlowNotice::~SlowNotice() {
  if (!running_) return;
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  ended_.notify_one();
  pthread_join(thread_, nullptr);
}

void* SlowNotice::wait(void* self) {
  auto& notice = *static_cast<SlowNotice*>(self);
  std::unique_lock lock(notice.mutex_);
  if (!notice.ended_.wait_for(lock, std::chrono::duration<double>(notice.seconds_), [&] { return notice.over_; }))
    notice.say_();
  return nullptr;
}

}  // namespace warpgrind::jit
