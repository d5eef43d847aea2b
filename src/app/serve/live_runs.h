// Live runs: runs that wait or run, with their output so far, for their viewers.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>

namespace warpgrind::serve {

class LiveRun {
 public:
  explicit LiveRun(std::string session) : session(std::move(session)) {}

  enum class State { queued, running, done };
  struct View {
    State state;
    std::string output;  // from the requested position
    std::size_t from;    // 0 if the run was started again
    int attempt;         // how often the run was started
  };

  void begin();  // also starts again: the earlier output is dropped
  void say(std::string_view more);
  void end();
  // Waits until there is more output than the first `from` bytes of that attempt, another state, or `patience` is over.
  View wait(std::size_t from, int attempt, State known, std::chrono::milliseconds patience);

  const std::string session;
  std::stop_source cancel;
  std::atomic<bool> cancelled_by_user = false;  // the user has cancelled it, not the end of the server

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::queued;
  std::string output_;
  int attempt_ = 0;
};

class LiveRuns {
 public:
  std::shared_ptr<LiveRun> add(const std::string& id, const std::string& session);
  std::shared_ptr<LiveRun> find(const std::string& id) const;  // null: absent (or removed)
  void remove(const std::string& id);

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<LiveRun>> runs_;
};

}  // namespace warpgrind::serve
