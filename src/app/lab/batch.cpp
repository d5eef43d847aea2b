// Batch of topics: resuming, progress bar and time left.
#include "lab/batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>

#include "base/assert.h"
#include "base/digest.h"
#include "base/file.h"
#include "base/process.h"
#include "lab/derive.h"
#include "lab/recordings.h"

namespace warpgrind::lab {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Finished topics of an interrupted batch with the same arguments and programs.
class State {
 public:
  State(const std::vector<const Topic*>& topics, const BatchSettings& s) {
    if (s.state_folder.empty()) return;
    std::string words =
        fmt::format("{} {} {} {} {} {} {} {} {}", s.large, s.run.sample_blocks, s.run.native ? "gpu" : s.run.gpu,
                    s.run.full, s.run.sizes, s.run.type, s.models, s.run.detail, s.is_recorded);
    for (const std::string& rung : s.run.rungs) words += " " + rung;
    for (const auto& [name, value] : s.run.options) words += " " + name + "=" + value;
    for (const Topic* t : topics) {
      std::error_code ignored;
      words += fmt::format(" {} {}", t->program, fs::last_write_time(t->program, ignored).time_since_epoch().count());
    }
    folder_ = fs::path(s.state_folder) / ("batch-" + digest(words));
    if (s.fresh) clear();
  }
  std::optional<TopicResult> load(const std::string& topic) const {
    if (folder_.empty()) return std::nullopt;
    auto result = from_json(read_whole(folder_ / (topic + ".json")).value_or(""), topic);
    if (!result || result->topics.size() != 1) return std::nullopt;
    return result->topics.front();
  }
  // A full disk only prevents resuming.
  void store(const TopicResult& topic) const {
    if (folder_.empty()) return;
    std::error_code ignored;
    fs::create_directories(folder_, ignored);
    LabResult one;
    one.topics.push_back(topic);
    (void)write_whole((folder_ / (topic.topic + ".json")).string(), to_json(one));
  }
  void clear() const {
    std::error_code ignored;
    if (!folder_.empty()) fs::remove_all(folder_, ignored);
  }

 private:
  fs::path folder_;
};

// Duration of each topic's last run, to estimate the time left.
class Durations {
 public:
  Durations(const BatchSettings& s) {
    if (s.state_folder.empty()) return;
    path_ = fs::path(s.state_folder) /
            fmt::format("seconds-{}{}.txt", s.run.native ? "gpu" : s.run.gpu, s.run.full ? "-full" : "");
    std::ifstream file(path_);
    std::string topic;
    for (double seconds = 0; file >> topic >> seconds;) known_[topic] = seconds;
  }
  void learn(const std::string& topic, double seconds) { known_[topic] = seconds; }
  double of(const std::string& topic) const {
    if (const auto it = known_.find(topic); it != known_.end()) return it->second;
    double sum = 0;
    for (const auto& [name, seconds] : known_) sum += seconds;
    constexpr double kGuess = 5;
    return known_.empty() ? kGuess : sum / static_cast<double>(known_.size());
  }
  // After a full disk, the estimates come from the run before.
  void save() const {
    if (path_.empty()) return;
    std::error_code ignored;
    fs::create_directories(path_.parent_path(), ignored);
    std::string text;
    for (const auto& [name, seconds] : known_) text += fmt::format("{} {}\n", name, seconds);
    (void)write_whole(path_.string(), text);
  }

 private:
  fs::path path_;
  std::map<std::string, double> known_;
};

class Progress {
 public:
  Progress(bool on, const std::vector<const Topic*>& topics, const Durations& durations)
      : on_(on), topics_(topics), durations_(durations) {}
  void start(std::size_t index) {
    index_ = index;
    begin_ = Clock::now();
    draw();
  }
  static void tick(void* self) { static_cast<Progress*>(self)->draw(); }
  void clear() const {
    if (on_) std::fputs("\r\033[K", stderr);
  }

 private:
  void draw() const {
    if (!on_) return;
    double done = 0, all = 0;
    for (std::size_t i = 0; i < topics_.size(); ++i) {
      const double expected = durations_.of(topics_[i]->name);
      all += expected;
      if (i < index_) done += expected;
      if (i == index_) done += std::min(seconds_since(begin_), expected);
    }
    constexpr int kCells = 30;
    const int cells = all > 0 ? static_cast<int>(kCells * done / all) : 0;
    WG_ASSERT(index_ < topics_.size() && cells >= 0 && cells <= kCells);
    const int left = static_cast<int>(all - done + 0.5);
    std::fputs(fmt::format("\r\033[K[{}{}] {}/{} {}, about {}:{:02} left", std::string(cells, '#'),
                           std::string(kCells - cells, '.'), index_ + 1, topics_.size(), topics_[index_]->name,
                           left / 60, left % 60)
                   .c_str(),
               stderr);
  }

  bool on_;
  const std::vector<const Topic*>& topics_;
  const Durations& durations_;
  std::size_t index_ = 0;
  Clock::time_point begin_ = Clock::now();
};

// The rungs of a topic at a small size, recorded step by step. A problem is the reason why there are no recordings.
void record_steps(const Topic& topic, const BatchSettings& settings, const RunSettings& run, TopicResult& result) {
  constexpr double kMostSeconds = 120;  // many times what the lab's topics need, for a busy machine
  const auto found = settings.steps.find(topic.name);
  if (found == settings.steps.end()) {
    result.no_recordings = "the topic's chapter names no size at which its kernels are recorded";
    return;
  }
  if (found->second.is_slow && !settings.records_slow) {
    result.no_recordings =
        fmt::format("recording it takes long; `warpgrind lab {} --steps --report FILE` does it", topic.name);
    return;
  }
  RunSettings small = run;
  small.steps = true;
  small.detail = small.full = false;
  small.sizes = found->second.sizes;
  small.type = found->second.type;
  if (small.rungs.empty()) small.rungs = found->second.rungs;
  small.timeout_seconds = run.timeout_seconds > 0 ? std::min(run.timeout_seconds, kMostSeconds) : kMostSeconds;
  TopicResult recorded = run_topic(topic, small);
  if (recorded.recordings.empty())
    result.no_recordings = recorded.error.empty() ? "it launched no kernel of its own" : recorded.error;
  result.seconds += recorded.seconds;
  take_recordings(result, std::move(recorded));
}

TopicResult run_with_models(const Topic& topic, const BatchSettings& settings, const RunSettings& run,
                            const TopicResult* bandwidth) {
  const bool models = settings.models, large = settings.large;
  TopicResult result = run_topic(topic, run);
  derive(result, run.native ? limits_of_device(result.device, topic.name == "bandwidth" ? &result : bandwidth)
                            : limits_of_model(run.gpu));
  if (run.native && topic.name == "bandwidth") derive(result, limits_of_device(result.device, &result));
  if (run.native || !result.good()) return result;
  if (settings.is_recorded && !interrupted()) record_steps(topic, settings, run, result);
  if (large && !topic.large_sizes.empty() && !interrupted()) {
    RunSettings some = run;
    some.large = true;
    some.detail = some.full = false;
    some.sizes.clear();
    TopicResult l = run_topic(topic, some);
    derive(l, limits_of_model(run.gpu));
    if (!l.good()) result.error = fmt::format("at {}: {}", topic.large_sizes, l.error);
    result.seconds += l.seconds;
    result.large = std::move(l.rows);
  }
  if (!models) return result;
  for (const std::string& model : topic.models) {
    if (interrupted()) break;
    if (model == run.gpu) {
      TopicResult same = result;
      same.models.clear();
      same.large.clear();
      same.notes.clear();
      same.sources.clear();
      same.recordings.clear();
      same.recorded_sources.clear();
      for (Row& row : same.rows) {
        row.kernels.clear();
        row.recordings.clear();
      }
      result.models.push_back(std::move(same));
      continue;
    }
    RunSettings other = run;
    other.gpu = model;
    other.detail = false;
    TopicResult m = run_topic(topic, other);
    derive(m, limits_of_model(model));
    m.notes.clear();
    result.models.push_back(std::move(m));
  }
  return result;
}

}  // namespace

BatchOutcome run_batch(const std::vector<const Topic*>& topics, const BatchSettings& settings,
                       const std::function<void(const TopicResult&)>& on_topic) {
  BatchOutcome outcome;
  const State state(topics, settings);
  Durations durations(settings);
  Progress progress(settings.progress, topics, durations);
  RunSettings run = settings.run;
  run.on_tick = Progress::tick;
  run.tick_data = &progress;
  std::optional<TopicResult> bandwidth;
  for (std::size_t i = 0; i < topics.size() && !interrupted(); ++i) {
    const Topic& topic = *topics[i];
    std::optional<TopicResult> result = state.load(topic.name);
    if (result) {
      ++outcome.resumed;
    } else {
      progress.start(i);
      const auto begin = Clock::now();
      result = run_with_models(topic, settings, run, bandwidth ? &*bandwidth : nullptr);
      progress.clear();
      if (interrupted()) break;
      durations.learn(topic.name, seconds_since(begin));
      if (result->good()) state.store(*result);
    }
    if (topic.name == "bandwidth") bandwidth = result;
    on_topic(*result);
    outcome.topics.push_back(std::move(*result));
  }
  outcome.interrupted = interrupted();
  if (!outcome.interrupted) state.clear();
  durations.save();
  return outcome;
}

}  // namespace warpgrind::lab
