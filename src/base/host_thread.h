// A thread of ours in the program's process. Where the host allows no more of them (ulimit -u, a container's limit) it
// says so: std::thread would throw, and nothing here catches.
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

  // The program's signals are for the program's own threads. What machine code may cause (SIGSEGV and its like) comes
  // to threads that run it.
  enum class Signals { none, faults };
  bool start(std::function<void()> run, Signals signals);  // false: the host refuses
  bool started() const { return started_; }
  void join();    // nothing when it was not started
  void detach();  // it ends with the process

 private:
  bool started_ = false;
  pthread_t thread_{};
};

}  // namespace warpgrind
