// Runs that wait or run: what they have said so far, for those who look on.
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
    std::string output;  // from where it was asked
    std::size_t from;    // 0 when it was begun anew
    int attempt;         // how often it was begun
  };

  void begin();  // anew, too: what it had said is void
  void say(std::string_view more);
  void end();
  // Waits until there is more output than the first `from` bytes of that attempt, or another state, or the time is
  // over.
  View wait(std::size_t from, int attempt, State known, std::chrono::milliseconds patience);

  const std::string session;
  std::stop_source cancel;
  std::atomic<bool> unwanted = false;  // its user has cancelled it, not the server's end

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
  std::shared_ptr<LiveRun> find(const std::string& id) const;  // null: it is not there (any more)
  void remove(const std::string& id);

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<LiveRun>> runs_;
};

}  // namespace warpgrind::serve
