// Host threads that stay alive between launches. The thread that launches works too, as number 0.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace warpgrind::device {

class WorkerTeam {
 public:
  WorkerTeam() = default;
  ~WorkerTeam();
  WorkerTeam(const WorkerTeam&) = delete;
  WorkerTeam& operator=(const WorkerTeam&) = delete;
  // Calls work(0), ..., work(count - 1) at the same time and returns when all have returned.
  void run(unsigned count, const std::function<void(unsigned)>& work);

 private:
  void loop(unsigned index, std::uint64_t seen);

  std::mutex mutex_;
  std::condition_variable start_, done_;
  const std::function<void(unsigned)>* work_ = nullptr;
  unsigned count_ = 0, busy_ = 0;
  std::uint64_t generation_ = 0;
  bool quit_ = false;
  std::vector<std::thread> threads_;
};

// Processors this process may use.
unsigned available_processors();

}  // namespace warpgrind::device
