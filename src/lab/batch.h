// Several topics one after the other: progress with the time left, Ctrl-C keeps what is done, a second call goes on
// there.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lab/run.h"

namespace warpgrind::lab {

struct BatchSettings {
  RunSettings run;
  std::string state_folder;  // where finished topics are kept until the batch is complete; empty: nowhere
  bool fresh = false;        // forget an interrupted batch
  bool progress = false;     // a bar on stderr
  bool large = true;         // also the large size of a topic that has one
  bool models = true;        // also run the other GPU models a topic names
};

struct BatchOutcome {
  std::vector<TopicResult> topics;
  std::size_t resumed = 0;  // taken from an interrupted batch
  bool interrupted = false;
};

// on_topic: called with each result as soon as it is there.
BatchOutcome run_batch(const std::vector<const Topic*>& topics, const BatchSettings& settings,
                       const std::function<void(const TopicResult&)>& on_topic);

}  // namespace warpgrind::lab
