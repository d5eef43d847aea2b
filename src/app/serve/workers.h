// Worker threads: they take runs from the queue and have them carried out.
#pragma once

#include <thread>
#include <vector>

#include "serve/carrier.h"
#include "serve/job_queue.h"
#include "serve/live_runs.h"
#include "serve/store.h"

namespace warpgrind::serve {

class Workers {
 public:
  Workers(Store& store, JobQueue& queue, LiveRuns& live, Carrier& carrier, unsigned count);
  ~Workers();  // stops the current runs; they stay unfinished in the store

 private:
  void work(const std::stop_token& stop);
  Task task_of(const RunRequest& run);

  Store& store_;
  JobQueue& queue_;
  LiveRuns& live_;
  Carrier& carrier_;
  std::vector<std::jthread> threads_;
};

}  // namespace warpgrind::serve
