// Executor of the work in streams, apart from the calling thread. A piece of work runs when all earlier work in its
// stream, and all other work that it depends on, has ended.
//
// Issued work does not begin at once. If a thread waits for it soon, that thread runs it itself, without a thread
// switch. Otherwise one of the executor's threads takes it after some 100 us. In a program that has waited for all of
// its work so far, this takes 1.6 ms, as shorter intervals would take a processor from the workers.
//
// Normally one grid runs at a time on a device, on all its workers, as that is fastest. When it takes longer than
// kGridsAlone, further ready grids run beside it as far as they fit on the modelled GPU, so that kernels may wait for
// each other.
//
// Lock order, outermost first: GraphsLock, HostState::mutex, Executor::mutex_, the ledger's, the timeline's. Kernels,
// copies, callbacks and Places of the ledger run under none of these locks.
#pragma once

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "base/host_stack.h"
#include "device/device.h"
#include "events/events.h"
#include "semantics/objects.h"
#include "timing/ledger.h"

namespace warpgrind::semantics {

struct Work {
  // wait: for a value that other code writes into memory.
  enum class Kind : std::uint8_t { grid, host_function, memory, wait, mark };
  Kind kind = Kind::mark;
  int device = 0;
  // For observers. `id` is set when the work is issued.
  events::StreamWork::Kind what = events::StreamWork::Kind::mark;
  std::uint64_t memory = 0;  // address that it allocates or frees
  std::uint64_t id = 0;
  std::shared_ptr<const HostStack> made;  // of a graph node: the call that created the node
  bool early = false;                     // a grid that its predecessor may start (programmatic launch)
  std::vector<WorkPtr> early_after;       // grids of a graph that may start it (programmatic edges); until it is issued
  double part_of_gpu = 0;                 // of a grid
  std::function<void()> run;              // may be empty
  timing::Ledger::Place place;            // on the timeline, in issue order

  bool done() const { return done_.load(std::memory_order_acquire); }

 private:
  friend class Executor;
  std::atomic<bool> done_{false};
  timing::Ledger::EntryPtr entry_;
  std::vector<WorkPtr> before_, after_;  // dependencies and dependents that are not done yet
  unsigned waits_for_ = 0;
  std::uint64_t ready_tick_ = 0, mark_ = 0;
  std::list<WorkPtr>::iterator pending_;
};

class Executor {
 public:
  static Executor& instance();

  // Adds work to the stream; it also waits for `others`.
  void issue(Stream& stream, const WorkPtr& work, const std::vector<WorkPtr>& others = {});
  // Adds works in this order, but to no stream: each waits for its `others` alone (graph nodes).
  struct Issue {
    WorkPtr work;
    std::vector<WorkPtr> others;
  };
  void issue(std::vector<Issue> works);

  // Work that was issued on the device and has not ended.
  std::vector<WorkPtr> pending(int device);
  // All work issued to the device's streams from now on also waits for `work`.
  void hold(int device, const WorkPtr& work);

  // Wait until work has ended. Meanwhile the calling thread runs what that work depends on.
  void wait(const WorkPtr& work);
  void wait(Stream& stream);  // for all its work; legacy default stream: also for that of the blocking streams
  void wait_device(int device);
  void wait_all();
  // Runs the action while no work runs or begins: for actions that move memory. Deadlocks if running work waits for
  // this thread.
  void alone(const std::function<void()>& action);
  bool ended(const Stream& stream);
  // At the end of the process: waits for all work, but stops work that waits for the host, which does nothing any more.
  void end();
  bool ends() const { return ends_.load(std::memory_order_relaxed); }  // true: waiting work has to give up

  // Waits until all work issued before has its place in virtual time. For calls that return times, or whether work has
  // ended. Returns false if that is not reached because a kernel waits for the host.
  bool settle();
  timing::Ledger& ledger() { return ledger_; }

  static bool inside_host_function();
  // Id of the work that the calling thread is running; 0: none.
  static std::uint64_t running_work();
  // Reports to observers that the host has seen the end of this work. The wait functions do this themselves.
  void publish_wait(const WorkPtr& work);
  void publish_wait(const Stream& stream);

 private:
  Executor();
  using Lock = std::unique_lock<std::mutex>;
  using Clock = std::chrono::steady_clock;
  // Pause of the leader between two looks for work; each look without success doubles it, up to kLongestTick.
  static constexpr std::chrono::microseconds kTick{100}, kLongestTick{1600};
  struct Running {
    WorkPtr work;
    Clock::time_point begin;
  };
  struct DeviceState {
    WorkPtr legacy_last;            // last work of the legacy default stream
    std::vector<WorkPtr> blocking;  // work of blocking streams since legacy_last
    std::vector<WorkPtr> holds;     // work that all streams wait for
    std::list<WorkPtr> pending;     // work issued and not done, in order of issue
    std::vector<Running> grids;     // grids that run now
    device::Device* gpu = nullptr;  // set once the device is in use
  };

  void look_again();
  void hasten(Lock& lock, const WorkPtr& work);
  void enqueue(const WorkPtr& work, std::vector<WorkPtr> before, std::uint64_t stream);
  void publish(Work& work, const std::vector<WorkPtr>& before, std::uint64_t stream);
  void publish_waits(const std::vector<WorkPtr>& works);
  std::vector<WorkPtr> last_of(const Stream& stream);
  device::Device* gpu(int device);
  void make_ready(const WorkPtr& work);
  bool has_room(const Work& work, Clock::time_point now) const;
  template <class Wanted>
  WorkPtr take(Wanted&& wanted);
  void run(Lock& lock, const WorkPtr& work);
  void wait(Lock& lock, const std::vector<WorkPtr>& targets);
  bool is_awaited(const Work& work) const;
  void sleep_until_done(Lock& lock, const Work& work);
  void kick();
  bool spawn();
  void serve();
  WorkPtr lead(Lock& lock);
  bool waits_for_host() const;
  DeviceState& state(int device);

  std::mutex mutex_;
  std::condition_variable done_, leader_wakes_, follower_wakes_;
  std::deque<DeviceState> devices_;  // references stay valid when a device is added
  std::deque<WorkPtr> ready_;
  std::vector<Running> running_;  // all kinds, all devices
  std::uint64_t tick_ = 1, marks_ = 0, issued_ = 0;
  std::vector<const Work*> awaited_;  // work that threads in wait() sleep for
  unsigned watchers_ = 0;             // threads to wake when any work ends
  unsigned waiters_ = 0, followers_ = 0, quiet_ticks_ = 0;
  std::chrono::microseconds pace_ = kTick;  // between two looks of the leader
  std::atomic<bool> ends_{false};
  std::atomic<bool> observed_{false};  // an observer wants stream work or waits of the host
  WorkPtr not_hastened_;               // this work, or a dependency, waits for the host
  bool has_leader_ = false, leader_asleep_ = false, no_threads_ = false;
  timing::Ledger ledger_;
};

}  // namespace warpgrind::semantics
