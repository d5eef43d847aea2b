// Queue of runs inside this process.
#include <algorithm>
#include <condition_variable>
#include <deque>
#include <list>
#include <mutex>
#include <set>

#include "base/assert.h"
#include "serve/job_queue.h"

namespace warpgrind::serve {

namespace {

struct User {
  std::string name;
  std::deque<RunRequest> runs;
  bool busy = false;
  int passed_over = 0;  // turns given to users behind this one since its last turn
};

constexpr double kShortRun = 5;               // seconds of a run
constexpr int kMostPassedOver = 3;            // then it is a user's turn, however long the last run was
constexpr std::size_t kMostLongUsers = 4096;  // users whose last run was long that are remembered

// Users in the order of their turns. After its turn a user moves to the end. A user without waiting runs is removed.
class EmbeddedQueue : public JobQueue {
 public:
  void push(RunRequest run) override {
    const std::lock_guard lock(mutex_);
    auto user = find(run.session);
    if (user == users_.end()) user = users_.insert(users_.end(), User{run.session, {}, false});
    user->runs.push_back(std::move(run));
    changed_.notify_one();
  }

  std::optional<RunRequest> take(std::stop_token stop) override {
    std::unique_lock lock(mutex_);
    auto next = users_.end();
    const bool found = changed_.wait(lock, stop, [&] {
      next = next_user();
      return next != users_.end();
    });
    if (!found || stop.stop_requested()) return std::nullopt;
    WG_ASSERT(!next->busy && !next->runs.empty());
    for (auto user = users_.begin(); user != next; ++user) user->passed_over += can_start(*user) ? 1 : 0;
    next->passed_over = 0;
    RunRequest run = std::move(next->runs.front());
    next->runs.pop_front();
    next->busy = true;
    return run;
  }

  void finished(const RunRequest& run, double seconds) override {
    const std::lock_guard lock(mutex_);
    if (seconds < kShortRun)
      long_.erase(run.session);
    else if (long_.size() < kMostLongUsers)
      long_.insert(run.session);
    const auto user = find(run.session);
    if (user == users_.end()) return;
    WG_ASSERT(user->busy);
    user->busy = false;
    users_.splice(users_.end(), users_, user);  // behind the users that came meanwhile
    if (user->runs.empty()) users_.erase(user);
    changed_.notify_one();
  }

  bool remove(const std::string& id) override {
    const std::lock_guard lock(mutex_);
    for (auto user = users_.begin(); user != users_.end(); ++user) {
      if (std::erase_if(user->runs, [&](const RunRequest& r) { return r.id == id; }) == 0) continue;
      if (user->runs.empty() && !user->busy) users_.erase(user);
      return true;
    }
    return false;
  }

  std::size_t waiting() const override {
    const std::lock_guard lock(mutex_);
    std::size_t count = 0;
    for (const User& user : users_) count += user.runs.size();
    return count;
  }

  std::size_t waiting_of(const std::string& name) const override {
    const std::lock_guard lock(mutex_);
    for (const User& user : users_)
      if (user.name == name) return user.runs.size();
    return 0;
  }

  // A user's k-th run begins in the k-th round. Each other user gets k turns before it, and one more if that user comes
  // first.
  std::optional<std::size_t> ahead_of(const std::string& id) const override {
    const std::lock_guard lock(mutex_);
    for (auto user = users_.begin(); user != users_.end(); ++user) {
      const auto run =
          std::find_if(user->runs.begin(), user->runs.end(), [&](const RunRequest& r) { return r.id == id; });
      if (run == user->runs.end()) continue;
      const std::size_t round = run - user->runs.begin();
      std::size_t ahead = round;
      bool before = true;
      for (auto other = users_.begin(); other != users_.end(); ++other) {
        if (other == user) {
          before = false;
          continue;
        }
        const bool first = user->busy ? before || !other->busy : before && !other->busy;
        ahead += std::min(other->runs.size(), round + (first ? 1 : 0));
      }
      return ahead;
    }
    return std::nullopt;
  }

 private:
  static bool can_start(const User& user) { return !user.busy && !user.runs.empty(); }

  std::list<User>::iterator next_user() {
    const auto first = std::find_if(users_.begin(), users_.end(), can_start);
    if (first == users_.end() || first->passed_over >= kMostPassedOver) return first;
    const auto quick =
        std::find_if(first, users_.end(), [&](const User& u) { return can_start(u) && !long_.contains(u.name); });
    return quick != users_.end() ? quick : first;
  }

  std::list<User>::iterator find(const std::string& name) {
    return std::find_if(users_.begin(), users_.end(), [&](const User& u) { return u.name == name; });
  }

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::list<User> users_;
  std::set<std::string> long_;  // users whose last run was long
};

}  // namespace

std::unique_ptr<JobQueue> make_embedded_queue() {
  return std::make_unique<EmbeddedQueue>();
}

}  // namespace warpgrind::serve
