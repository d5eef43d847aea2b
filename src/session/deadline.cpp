#include "session/deadline.h"

#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <thread>
#include <utility>

namespace warpgrind::session {

namespace {

struct Deadline {
  double seconds = 0;
  std::function<void()> expired;
};

void* wait(void* argument) {
  const auto* deadline = static_cast<const Deadline*>(argument);
  std::this_thread::sleep_for(std::chrono::duration<double>(deadline->seconds));
  deadline->expired();
  return nullptr;
}

}  // namespace

void start_deadline(double seconds, std::function<void()> expired) {
  auto* deadline = new Deadline{seconds, std::move(expired)};  // the thread's, which ends with the process
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // the program's signals are for the program's own threads
  pthread_t thread{};
  if (pthread_create(&thread, nullptr, wait, deadline) == 0) pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace warpgrind::session
