// Runner of topics. Each topic is a program, started under `warpgrind run` or natively; its rows get the counters of
// their launches.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lab/result.h"
#include "lab/topic.h"

namespace warpgrind::lab {

struct RunSettings {
  std::string warpgrind;     // this executable
  std::string gpu = "h200";  // the GPU model; unused on a real GPU
  bool native = false;       // --on gpu
  bool full = false;
  bool large = false;  // the topic's large size, of which some blocks run: TopicResult::large
  std::uint64_t sample_blocks =
      0;                // about this many blocks of each launch run (`warpgrind run --sample-blocks`); 0: all
  bool detail = false;  // also the kernels of each row: their texts and access patterns
  bool steps = false;   // also TopicResult::recordings; the counts are those of a recorded run
  unsigned threads = 0;
  double timeout_seconds = 0;  // as in `warpgrind run`
  std::string cache;           // folder of compiled kernels; empty: the default one
  bool no_cache = false;
  std::string sizes, type;                                   // empty: the topic's own
  std::vector<std::string> rungs;                            // patterns; empty: all
  std::vector<std::pair<std::string, std::string>> options;  // of the topic: name, value
  void (*on_tick)(void*) = nullptr;                          // called while a program runs
  void* tick_data = nullptr;
};

// Never fails as a whole: problems are in `error` and `exit_code` of the result.
TopicResult run_topic(const Topic& topic, const RunSettings& settings);

// Whether a program started natively would still run on the virtual GPU: `warpgrind nvcc` writes the folder of our
// libraries into the programs it links. The estimates would then pass for measured times.
bool finds_our_runtime(const std::string& program);

}  // namespace warpgrind::lab
