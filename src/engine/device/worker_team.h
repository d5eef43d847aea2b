// Team of host threads that stay alive between launches. The launching thread works too, as number 0.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

#include "base/host_thread.h"

namespace warpgrind::device {

class WorkerTeam {
 public:
  WorkerTeam() = default;
  ~WorkerTeam();
  WorkerTeam(const WorkerTeam&) = delete;
  WorkerTeam& operator=(const WorkerTeam&) = delete;
  // Returns how many of `count` threads can work at the same time: fewer if the host allows no more threads.
  unsigned grow(unsigned count);
  // Calls work(0), ..., work(count - 1) concurrently and returns when all have returned. `count`: at most the result of
  // grow().
  void run(unsigned count, const std::function<void(unsigned)>& work);

 private:
  void loop(unsigned index, std::uint64_t seen);

  std::mutex mutex_;
  std::condition_variable start_, done_;
  const std::function<void(unsigned)>* work_ = nullptr;
  unsigned count_ = 0, busy_ = 0;
  std::uint64_t generation_ = 0;
  bool quit_ = false;
  std::vector<HostThread> threads_;
};

// Number of processors that this process may use.
unsigned available_processors();

}  // namespace warpgrind::device
