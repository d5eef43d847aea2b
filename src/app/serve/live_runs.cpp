#include "serve/live_runs.h"

#include <algorithm>

#include "base/assert.h"

namespace warpgrind::serve {

void LiveRun::begin() {
  const std::lock_guard lock(mutex_);
  WG_ASSERT(state_ != State::done);
  state_ = State::running;
  output_.clear();
  ++attempt_;
  changed_.notify_all();
}

void LiveRun::say(std::string_view more) {
  const std::lock_guard lock(mutex_);
  WG_ASSERT(state_ == State::running);
  output_ += more;
  changed_.notify_all();
}

void LiveRun::end() {
  const std::lock_guard lock(mutex_);
  WG_ASSERT(state_ != State::done);
  state_ = State::done;
  changed_.notify_all();
}

LiveRun::View LiveRun::wait(std::size_t from, int attempt, State known, std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience, [&] { return output_.size() > from || attempt_ != attempt || state_ != known; });
  const std::size_t at = attempt == attempt_ ? std::min(from, output_.size()) : 0;
  return {state_, output_.substr(at), at, attempt_};
}

std::shared_ptr<LiveRun> LiveRuns::add(const std::string& id, const std::string& session) {
  const std::lock_guard lock(mutex_);
  return runs_[id] = std::make_shared<LiveRun>(session);
}

std::shared_ptr<LiveRun> LiveRuns::find(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const auto found = runs_.find(id);
  return found != runs_.end() ? found->second : nullptr;
}

void LiveRuns::remove(const std::string& id) {
  const std::lock_guard lock(mutex_);
  runs_.erase(id);
}

}  // namespace warpgrind::serve
