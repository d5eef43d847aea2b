// Thread of this library in the program's process. start() returns false where the host allows no more threads (ulimit
// -u, a container's limit). std::thread would throw, and nothing here catches.
#pragma once

#include <pthread.h>

#include <functional>
#include <memory>

namespace warpgrind {

class HostThread {
 public:
  HostThread() = default;
  ~HostThread() { join(); }
  HostThread(HostThread&& other) noexcept : started_(other.started_), thread_(other.thread_) { other.started_ = false; }
  HostThread(const HostThread&) = delete;
  HostThread& operator=(const HostThread&) = delete;
  HostThread& operator=(HostThread&&) = delete;

  // Signals that the thread accepts. The program's signals go to the program's own threads. `faults` allows those that
  // machine code may cause (SIGSEGV and similar), for threads that run machine code.
  enum class Signals { none, faults };
  bool start(std::function<void()> run, Signals signals);  // false: the host refuses
  bool started() const { return started_; }
  void join();    // does nothing if not started
  void detach();  // the thread ends with the process

 private:
  bool started_ = false;
  pthread_t thread_{};
};

}  // namespace warpgrind
