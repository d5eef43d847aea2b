// Threads that take runs from the queue and carry them out, each in a box.
#pragma once

#include <thread>
#include <vector>

#include "sandbox/sandbox.h"
#include "serve/job_queue.h"
#include "serve/live_runs.h"
#include "serve/store.h"

namespace warpgrind::serve {

class Workers {
 public:
  Workers(Store& store, JobQueue& queue, LiveRuns& live, const sandbox::Limits& limits, unsigned count);
  ~Workers();  // what runs is stopped and stays unfinished in the store

 private:
  void work(std::stop_token stop);
  RunResult carry_out(const RunRequest& run, LiveRun& live, const std::stop_token& stop);

  Store& store_;
  JobQueue& queue_;
  LiveRuns& live_;
  const sandbox::Limits limits_;
  std::vector<std::jthread> threads_;
};

}  // namespace warpgrind::serve
