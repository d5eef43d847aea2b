// Live runs: runs that wait or run, with their output so far, for their viewers.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>

namespace warpgrind::serve {

class LiveRun {
 public:
  LiveRun(std::string session, std::function<void()> on_change)
      : session(std::move(session)), on_change_(std::move(on_change)) {}

  enum class State { queued, running, done };
  struct View {
    State state;
    std::string output;  // from the requested position
    std::size_t from;    // 0 if the run was started again
    int attempt;         // how often the run was started
    bool is_news;        // more output than the viewer has, or another attempt or state
  };

  void begin();  // also starts again: the earlier output is dropped
  void say(std::string_view more);
  void end();
  bool is_queued() const;
  // For a viewer that has the first `from` bytes of that attempt, and that state.
  View look(std::size_t from, int attempt, State known) const;

  const std::string session;
  std::stop_source cancel;
  std::atomic<bool> cancelled_by_user = false;  // the user has cancelled it, not the end of the server

 private:
  const std::function<void()> on_change_;
  mutable std::mutex mutex_;
  State state_ = State::queued;
  std::string output_;
  int attempt_ = 0;
};

class LiveRuns {
 public:
  // `call` gets the id of each run that has news, from any thread. Set it before the first worker starts.
  void on_change(std::function<void(const std::string&)> call) { on_change_ = std::move(call); }
  std::shared_ptr<LiveRun> add(const std::string& id, const std::string& session);
  std::shared_ptr<LiveRun> find(const std::string& id) const;  // null: absent (or removed)
  void remove(const std::string& id);
  void announce_places();  // the places of queued runs have changed

 private:
  std::function<void(const std::string&)> on_change_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<LiveRun>> runs_;
};

}  // namespace warpgrind::serve
