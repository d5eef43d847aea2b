#include "session/deadline.h"

#include <chrono>
#include <thread>
#include <utility>

#include "base/host_thread.h"

namespace warpgrind::session {

bool start_deadline(double seconds, std::function<void()> expired) {
  HostThread thread;
  const auto wait = [seconds, expired = std::move(expired)] {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    expired();
  };
  if (!thread.start(wait, HostThread::Signals::none)) return false;
  thread.detach();
  return true;
}

}  // namespace warpgrind::session
