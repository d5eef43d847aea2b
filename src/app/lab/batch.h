// Batch of topics, run one after the other. It shows progress with the time left. Ctrl-C keeps the finished topics, and
// the next call continues after them.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "lab/course.h"
#include "lab/run.h"

namespace warpgrind::lab {

struct BatchSettings {
  RunSettings run;
  std::string state_folder;  // finished topics stay here until the batch is complete; empty: nowhere
  bool fresh = false;        // discard an interrupted batch
  bool progress = false;     // a bar on stderr
  bool large = true;         // also the large size of a topic that has one
  bool models = true;        // also run the other GPU models a topic names
  // A second, small run of these topics records their kernels step by step. Only with `is_recorded`.
  bool is_recorded = false, records_slow = false;  // records_slow: also topics whose chapter says that it takes long
  std::map<std::string, StepsRun> steps;
};

struct BatchOutcome {
  std::vector<TopicResult> topics;
  std::size_t resumed = 0;  // taken from an interrupted batch
  bool interrupted = false;
};

// `on_topic`: called with each result as soon as it is ready.
BatchOutcome run_batch(const std::vector<const Topic*>& topics, const BatchSettings& settings,
                       const std::function<void(const TopicResult&)>& on_topic);

}  // namespace warpgrind::lab
