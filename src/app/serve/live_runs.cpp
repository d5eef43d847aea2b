#include "serve/live_runs.h"

#include <algorithm>

#include "base/assert.h"

namespace warpgrind::serve {

void LiveRun::begin() {
  {
    const std::lock_guard lock(mutex_);
    WG_ASSERT(state_ != State::done);
    state_ = State::running;
    output_.clear();
    ++attempt_;
  }
  on_change_();
}

void LiveRun::say(std::string_view more) {
  {
    const std::lock_guard lock(mutex_);
    WG_ASSERT(state_ == State::running);
    output_ += more;
  }
  on_change_();
}

void LiveRun::end() {
  {
    const std::lock_guard lock(mutex_);
    WG_ASSERT(state_ != State::done);
    state_ = State::done;
  }
  on_change_();
}

bool LiveRun::is_queued() const {
  const std::lock_guard lock(mutex_);
  return state_ == State::queued;
}

LiveRun::View LiveRun::look(std::size_t from, int attempt, State known) const {
  const std::lock_guard lock(mutex_);
  const std::size_t at = attempt == attempt_ ? std::min(from, output_.size()) : 0;
  return {state_, output_.substr(at), at, attempt_, output_.size() > from || attempt_ != attempt || state_ != known};
}

std::shared_ptr<LiveRun> LiveRuns::add(const std::string& id, const std::string& session) {
  const std::lock_guard lock(mutex_);
  return runs_[id] = std::make_shared<LiveRun>(session, [this, id] {
           if (on_change_) on_change_(id);
         });
}

std::shared_ptr<LiveRun> LiveRuns::find(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const auto found = runs_.find(id);
  return found != runs_.end() ? found->second : nullptr;
}

void LiveRuns::announce_places() {
  if (!on_change_) return;
  const std::lock_guard lock(mutex_);
  for (const auto& [id, run] : runs_)
    if (run->is_queued()) on_change_(id);
}

void LiveRuns::remove(const std::string& id) {
  const std::lock_guard lock(mutex_);
  runs_.erase(id);
}

}  // namespace warpgrind::serve
