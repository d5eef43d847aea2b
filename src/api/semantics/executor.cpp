// Executor: issue, running, and waits of work, and its threads.
#include "semantics/executor.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/assert.h"
#include "base/host_pages.h"
#include "base/host_thread.h"
#include "semantics/state.h"

namespace warpgrind::semantics {

namespace {

constexpr auto kSlowTick = std::chrono::milliseconds(1);  // pause while all ready work waits for room on the GPU
constexpr unsigned kQuietTicks = 20;                      // after these the leader sleeps until work is ready
constexpr auto kGridsAlone = std::chrono::milliseconds(10);
// Time after which a call gives up on running work: if that work only waits for the host; in any case; at the end of
// the process.
constexpr auto kPatience = std::chrono::milliseconds(20);
constexpr auto kMostPatience = std::chrono::seconds(20);
constexpr auto kPatienceAtEnd = std::chrono::seconds(1);

thread_local bool t_in_host_function = false;
thread_local unsigned t_running = 0;    // nesting depth of works that this thread runs
thread_local std::uint64_t t_work = 0;  // id of the innermost one
thread_local bool t_serves = false;     // this is one of the executor's threads

}  // namespace

// Adaptive mutex: a waiting thread spins before it sleeps. The lock is held for some 100 ns, and two threads that
// alternate at each launch would otherwise sleep and wake each other all the time.
Executor::Executor() {
  *mutex_.native_handle() = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
}

Executor& Executor::instance() {
  static auto* executor = new Executor;  // never destroyed, like the session
  return *executor;
}

bool Executor::inside_host_function() {
  return t_in_host_function;
}

std::uint64_t Executor::running_work() {
  return t_work;
}

Executor::DeviceState& Executor::state(int device) {
  WG_ASSERT(device >= 0);
  if (devices_.size() <= static_cast<std::size_t>(device)) devices_.resize(static_cast<std::size_t>(device) + 1);
  return devices_[static_cast<std::size_t>(device)];
}

// ---- Issue

void Executor::issue(Stream& stream, const WorkPtr& work, const std::vector<WorkPtr>& others) {
  Lock lock(mutex_);
  work->device = stream.device;
  DeviceState& device = state(stream.device);
  std::vector<WorkPtr> before = others;
  std::erase_if(device.holds, [](const WorkPtr& w) { return w->done(); });
  before.insert(before.end(), device.holds.begin(), device.holds.end());
  if (stream.last) before.push_back(stream.last);
  if (stream.kind == timing::StreamKind::legacy_default) {
    before.insert(before.end(), device.blocking.begin(), device.blocking.end());
    device.blocking.clear();
    device.legacy_last = work;
  } else if (stream.kind == timing::StreamKind::blocking) {
    if (device.legacy_last) before.push_back(device.legacy_last);
    constexpr std::size_t kTidyAt = 64;
    // Observers need work that has ended, too: publish() passes it on as a dependency.
    if (device.blocking.size() >= kTidyAt && !(device.gpu && device.gpu->wants().stream_work))
      std::erase_if(device.blocking, [](const WorkPtr& w) { return w->done(); });
    device.blocking.push_back(work);
  }
  stream.last = work;
  enqueue(work, std::move(before), stream.id);
  // The queue of launches is as long as in hardware. If it is full, the issuing thread waits until half the queue is
  // done. If it waited for one free place only, it would be woken for every launch.
  if (no_threads_ && t_running == 0) wait(lock, {work});
  if (device.pending.size() > timing::Timeline::kQueueDepth && t_running == 0)
    wait(lock, {*std::next(device.pending.begin(), timing::Timeline::kQueueDepth / 2)});
  if (HostPages::instance().wanted() && t_running == 0) hasten(lock, work);
}

// For the check of host accesses to memory that work uses (checkers/host_races.cpp): completes the work before the call
// returns, so that its accesses are known. Work that waits for the host is left to go on by itself.
void Executor::hasten(Lock& lock, const WorkPtr& work) {
  if (not_hastened_ && !not_hastened_->done()) return;
  not_hastened_.reset();
  const auto begin = Clock::now();
  auto waits_since = begin;
  ++watchers_;
  while (!work->done()) {
    const auto now = Clock::now();
    if (running_.empty() || !waits_for_host()) waits_since = now;
    if (now - waits_since > kPatience || now - begin > kMostPatience) {
      not_hastened_ = work;
      break;
    }
    look_again();
    done_.wait_for(lock, kSlowTick);
  }
  --watchers_;
}

// Makes one of the executor's threads take ready work at once.
void Executor::look_again() {
  ++tick_;
  leader_asleep_ = false;
  leader_wakes_.notify_one();
}

// All works under one lock: issued one by one, each would wait for the thread that runs the one before.
void Executor::issue(std::vector<Issue> works) {
  Lock lock(mutex_);
  for (Issue& i : works) enqueue(i.work, std::move(i.others), events::StreamWork::kNoStream);
}

std::vector<WorkPtr> Executor::pending(int device) {
  const Lock lock(mutex_);
  const std::list<WorkPtr>& all = state(device).pending;
  return {all.begin(), all.end()};
}

void Executor::hold(int device, const WorkPtr& work) {
  const Lock lock(mutex_);
  if (!work->done()) state(device).holds.push_back(work);
}

device::Device* Executor::gpu(int device) {
  DeviceState& s = state(device);
  if (!s.gpu && session::devices().in_use(device)) {
    s.gpu = &session::devices()[device];
    if (s.gpu->wants().stream_work || s.gpu->wants().host_waits) observed_ = true;
  }
  return s.gpu;
}

void Executor::publish(Work& work, const std::vector<WorkPtr>& before, std::uint64_t stream) {
  const std::vector<WorkPtr> starters = std::exchange(work.early_after, {});
  const device::Device* device = gpu(work.device);
  if (!device || !device->wants().stream_work) return;
  std::vector<std::uint64_t> after;
  for (const WorkPtr& b : before) after.push_back(b->id);
  std::vector<std::uint64_t> early_after;
  for (const WorkPtr& b : starters) early_after.push_back(b->id);
  events::StreamWork event;
  event.kind = work.what;
  event.id = work.id;
  event.device = work.device;
  event.stream = stream;
  event.after = after;
  event.address = work.memory;
  event.early = work.early;
  event.early_after = early_after;
  event.made = work.made.get();
  device->publish(event);
}

void Executor::enqueue(const WorkPtr& work, std::vector<WorkPtr> before, std::uint64_t stream) {
  WG_ASSERT(work->id == 0 && work->place);  // issued once; the ledger waits for the place of each
  work->id = ++issued_;
  gpu(work->device);
  if (observed_)  // the timeline then shows the id of the work
    work->place = [place = std::move(work->place), id = work->id] {
      session::TimelineEntries::placing(id);
      place();
      session::TimelineEntries::placing(0);
    };
  work->entry_ = ledger_.open(std::move(work->place));
  std::sort(before.begin(), before.end());
  before.erase(std::unique(before.begin(), before.end()), before.end());
  // A record in a graph that another thread is about to issue: the wait for it came first.
  std::erase_if(before, [](const WorkPtr& b) { return b->id == 0; });
  publish(*work, before, stream);
  for (WorkPtr& b : before) {
    WG_ASSERT(b != work);  // it would wait for itself
    if (b->done()) continue;
    b->after_.push_back(work);
    work->before_.push_back(std::move(b));
  }
  work->waits_for_ = static_cast<unsigned>(work->before_.size());
  std::list<WorkPtr>& pending = state(work->device).pending;
  work->pending_ = pending.insert(pending.end(), work);
  quiet_ticks_ = 0;
  if (!has_leader_ && followers_ == 0 && !no_threads_) no_threads_ = !spawn();
  if (work->waits_for_ == 0) make_ready(work);
}

void Executor::make_ready(const WorkPtr& work) {
  WG_ASSERT(work->waits_for_ == 0 && !work->done());
  work->ready_tick_ = tick_;
  ready_.push_back(work);
  kick();
}

void Executor::kick() {
  if (!leader_asleep_) return;
  leader_asleep_ = false;
  leader_wakes_.notify_one();
}

// ---- Running

bool Executor::has_room(const Work& work, Clock::time_point now) const {
  if (work.kind != Work::Kind::grid) return true;
  WG_ASSERT(static_cast<std::size_t>(work.device) < devices_.size());  // enqueue() has made its state
  const std::vector<Running>& grids = devices_[static_cast<std::size_t>(work.device)].grids;
  double used = std::min(1.0, work.part_of_gpu);
  for (const Running& r : grids) {
    if (now - r.begin < kGridsAlone) return false;
    used += std::min(1.0, r.work->part_of_gpu);
  }
  constexpr double kRounding = 1e-9;
  return grids.empty() || used <= 1 + kRounding;
}

// Returns the first ready work that is wanted and may run now.
template <class Wanted>
WorkPtr Executor::take(Wanted&& wanted) {
  if (ready_.empty()) return nullptr;
  Clock::time_point now{};
  for (auto it = ready_.begin(); it != ready_.end(); ++it) {
    if (!wanted(**it)) continue;
    const bool alone = (*it)->kind != Work::Kind::grid || state((*it)->device).grids.empty();
    if (!alone && now == Clock::time_point{}) now = Clock::now();
    if (!alone && !has_room(**it, now)) continue;
    WorkPtr work = std::move(*it);
    ready_.erase(it);
    return work;
  }
  return nullptr;
}

void Executor::run(Lock& lock, const WorkPtr& work) {
  WG_ASSERT(lock.owns_lock() && !work->done());
  running_.push_back({work, {}});
  if (work->kind == Work::Kind::grid) state(work->device).grids.push_back({work, Clock::now()});
  lock.unlock();
  const bool outer = t_in_host_function;
  t_in_host_function = work->kind == Work::Kind::host_function;
  ++t_running;
  const std::uint64_t outer_work = std::exchange(t_work, work->id);
  if (work->run) {
    HostPages::instance().pause();
    work->run();
    HostPages::instance().resume();
  }
  t_work = outer_work;
  --t_running;
  t_in_host_function = outer;
  work->run = nullptr;
  // The work is placed, and its findings are reported, before any waiting thread goes on.
  ledger_.close(work->entry_);
  lock.lock();
  const auto is_it = [&](const Running& r) { return r.work == work; };
  const std::size_t ended = std::erase_if(running_, is_it);
  WG_ASSERT(ended == 1);  // two threads would have run it
  DeviceState& device = state(work->device);
  if (work->kind == Work::Kind::grid) std::erase_if(device.grids, is_it);
  device.pending.erase(work->pending_);
  work->done_.store(true, std::memory_order_release);
  for (const WorkPtr& next : work->after_) {
    WG_ASSERT(next->waits_for_ > 0);
    if (--next->waits_for_ == 0) {
      next->before_.clear();
      make_ready(next);
    }
  }
  work->after_.clear();
  if (!ready_.empty()) kick();
  // Waking a thread takes longer than a small grid. So wake only threads that wait for this work, or if there is more
  // ready work than this thread takes next (one, if it is the executor's own thread).
  const bool for_others = ready_.size() > (t_serves && t_running == 0 ? 1 : 0);
  if (watchers_ || (waiters_ && (is_awaited(*work) || for_others))) done_.notify_all();
}

// ---- Waiting

bool Executor::is_awaited(const Work& work) const {
  return std::find(awaited_.begin(), awaited_.end(), &work) != awaited_.end();
}

// Also returns when there may be work that the thread could run.
void Executor::sleep_until_done(Lock& lock, const Work& work) {
  awaited_.push_back(&work);
  done_.wait(lock);
  const auto mine = std::find(awaited_.begin(), awaited_.end(), &work);
  WG_ASSERT(mine != awaited_.end());
  awaited_.erase(mine);
}

void Executor::wait(Lock& lock, const std::vector<WorkPtr>& targets) {
  WG_ASSERT(lock.owns_lock());
  const std::uint64_t mark = ++marks_;
  std::vector<Work*> walk;
  const auto visit = [&](const WorkPtr& w) {
    if (!w || w->done() || w->mark_ == mark) return;
    w->mark_ = mark;
    walk.push_back(w.get());
  };
  for (const WorkPtr& t : targets) visit(t);
  while (!walk.empty()) {
    Work* w = walk.back();
    walk.pop_back();
    for (const WorkPtr& b : w->before_) visit(b);
  }
  ++waiters_;
  for (const WorkPtr& t : targets) {
    while (t && !t->done()) {
      if (WorkPtr work = take([&](const Work& w) { return w.mark_ == mark; }))
        run(lock, work);
      else
        sleep_until_done(lock, *t);
    }
  }
  --waiters_;
}

void Executor::wait(const WorkPtr& work) {
  if (!work) return;
  if (!work->done()) {
    Lock lock(mutex_);
    wait(lock, {work});
  }
  publish_wait(work);
}

std::vector<WorkPtr> Executor::last_of(const Stream& stream) {
  std::vector<WorkPtr> targets;
  if (stream.last) targets.push_back(stream.last);
  if (stream.kind == timing::StreamKind::legacy_default) {
    const auto& blocking = state(stream.device).blocking;
    targets.insert(targets.end(), blocking.begin(), blocking.end());
  }
  return targets;
}

void Executor::wait(Stream& stream) {
  Lock lock(mutex_);
  const std::vector<WorkPtr> targets = last_of(stream);
  wait(lock, targets);
  publish_waits(targets);
}

// Under the lock.
void Executor::publish_waits(const std::vector<WorkPtr>& works) {
  if (!observed_.load(std::memory_order_relaxed)) return;
  for (const WorkPtr& w : works)
    if (const device::Device* device = gpu(w->device)) device->publish(events::HostWait{w->device, w->id});
}

void Executor::publish_wait(const WorkPtr& work) {
  if (!observed_.load(std::memory_order_relaxed)) return;
  const Lock lock(mutex_);
  publish_waits({work});
}

void Executor::publish_wait(const Stream& stream) {
  if (!observed_.load(std::memory_order_relaxed)) return;
  const Lock lock(mutex_);
  publish_waits(last_of(stream));
}

bool Executor::ended(const Stream& stream) {
  const Lock lock(mutex_);
  const std::vector<WorkPtr> last = last_of(stream);
  return std::all_of(last.begin(), last.end(), [](const WorkPtr& w) { return w->done(); });
}

void Executor::wait_device(int device) {
  Lock lock(mutex_);
  const std::list<WorkPtr>& pending = state(device).pending;
  wait(lock, {pending.begin(), pending.end()});
  if (const device::Device* d = gpu(device)) d->publish(events::HostWait{device, events::HostWait::kAll});
}

void Executor::wait_all() {
  Lock lock(mutex_);
  std::vector<WorkPtr> targets;
  for (const DeviceState& d : devices_) targets.insert(targets.end(), d.pending.begin(), d.pending.end());
  wait(lock, targets);
  for (std::size_t k = 0; k < devices_.size(); ++k) {
    const int device = static_cast<int>(k);
    if (const device::Device* d = gpu(device)) d->publish(events::HostWait{device, events::HostWait::kAll});
  }
}

void Executor::alone(const std::function<void()>& action) {
  Lock lock(mutex_);
  ++watchers_;
  done_.wait(lock, [&] { return running_.empty() || t_running > 0; });
  --watchers_;
  action();
}

// True if all running work waits for an action of the host.
bool Executor::waits_for_host() const {
  return std::all_of(running_.begin(), running_.end(), [](const Running& r) {
    if (r.work->kind == Work::Kind::host_function || r.work->kind == Work::Kind::wait) return true;
    return r.work->kind == Work::Kind::grid && session::devices()[r.work->device].only_waits();
  });
}

bool Executor::settle() {
  if (t_running) return true;  // called from inside of running work
  Lock lock(mutex_);
  const std::uint64_t last = ledger_.last();
  const auto begin = Clock::now();
  auto waits_since = begin;
  ++watchers_;
  bool settled = true;
  while (!ledger_.placed_through(last)) {
    const auto now = Clock::now();
    if (!waits_for_host()) waits_since = now;
    if (now - waits_since > kPatience || now - begin > kMostPatience) {
      settled = false;
      break;
    }
    look_again();  // ready work would otherwise be left to this thread
    done_.wait_for(lock, kSlowTick);
  }
  --watchers_;
  if (settled) return true;
  lock.unlock();
  ledger_.place_closed(last);
  return false;
}

void Executor::end() {
  if (t_running) return;
  Lock lock(mutex_);
  auto waits_since = Clock::now();
  const auto pending = [&] {
    return std::any_of(devices_.begin(), devices_.end(), [](const DeviceState& d) { return !d.pending.empty(); });
  };
  ++watchers_;
  bool stopped = false;
  while (pending()) {
    look_again();
    done_.wait_for(lock, kSlowTick);
    const auto now = Clock::now();
    if (running_.empty() || !waits_for_host()) waits_since = now;
    if (now - waits_since < kPatienceAtEnd) continue;
    if (stopped) break;  // a host function that never returns
    stopped = true;
    waits_since = now;
    session::messages().say_once("the program ended while its kernels waited for the host: the kernels were stopped");
    ends_ = true;
    for (int device = 0; device < session::devices().count(); device++)
      if (session::devices().in_use(device)) session::devices()[device].abandon_launches(true);
  }
  --watchers_;
}

// ---- The executor's threads. One of them is the leader. It looks for work at intervals, and makes another thread the
// leader before it runs work.

bool Executor::spawn() {
  HostThread thread;
  if (!thread.start([this] { serve(); }, HostThread::Signals::faults)) return false;
  thread.detach();
  ++followers_;  // until it leads
  return true;
}

void Executor::serve() {
  Lock lock(mutex_);
  t_serves = true;
  for (;;) {
    follower_wakes_.wait(lock, [&] { return !has_leader_; });
    WG_ASSERT(followers_ > 0);
    --followers_;
    has_leader_ = true;
    WorkPtr work = lead(lock);
    has_leader_ = false;
    if (followers_ == 0) spawn();
    follower_wakes_.notify_one();
    // This thread goes on while there is ready work.
    do {
      run(lock, work);
      work = take([](const Work&) { return true; });
    } while (work);
    ++followers_;
  }
}

WorkPtr Executor::lead(Lock& lock) {
  for (;;) {
    // Work that became ready since the last tick is left to a thread that may be about to wait for it.
    if (WorkPtr work = take([&](const Work& w) { return w.ready_tick_ < tick_; })) {
      pace_ = kTick;
      return work;
    }
    if (ready_.empty() && quiet_ticks_ > kQuietTicks) {
      leader_asleep_ = true;
      leader_wakes_.wait(lock, [&] { return !leader_asleep_; });
      quiet_ticks_ = 0;
    }
    const bool all_wait = !ready_.empty() && std::all_of(ready_.begin(), ready_.end(),
                                                         [&](const WorkPtr& w) { return w->ready_tick_ < tick_; });
    leader_wakes_.wait_for(lock, all_wait ? kSlowTick : pace_);
    pace_ = std::min(2 * pace_, kLongestTick);
    ++tick_;
    ++quiet_ticks_;
  }
}

}  // namespace warpgrind::semantics
