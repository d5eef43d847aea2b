#include "base/host_thread.h"

#include <utility>

#include "base/signal_mask.h"

namespace warpgrind {

bool HostThread::start(std::function<void()> run, Signals signals) {
  sigset_t blocked = all_signals();
  if (signals == Signals::faults)
    for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigdelset(&blocked, fault);
  const SignalMask mask = SignalMask::replace(blocked);  // the new thread inherits it
  auto body = std::make_unique<std::function<void()>>(std::move(run));
  const int failed = pthread_create(
      &thread_, nullptr,
      [](void* argument) -> void* {
        const std::unique_ptr<std::function<void()>> mine(static_cast<std::function<void()>*>(argument));
        (*mine)();
        return nullptr;
      },
      body.get());
  if (failed) return false;
  body.release();  // the thread's
  started_ = true;
  return true;
}

void HostThread::join() {
  if (!started_) return;
  pthread_join(thread_, nullptr);
  started_ = false;
}

void HostThread::detach() {
  if (started_) pthread_detach(thread_);
  started_ = false;
}

}  // namespace warpgrind
