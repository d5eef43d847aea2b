// Runs what streams hold, off the calling thread: each piece of work when all before it in its stream, and what it was
// told to wait for, has ended. Work issued is not begun at once: a thread that waits for it soon runs it itself, which
// costs no switch of threads, and otherwise one of the executor's threads takes it after some 100 us (1.6 ms in a
// program that has waited for all of its work so far: looking more often would take a processor from the workers). One
// grid runs at a time on a device, on all its workers, as that is fastest; when it takes longer than kGridsAlone,
// further grids that are ready run beside it as far as they fit on the modelled GPU, so that kernels may wait for each
// other.
//
// Lock order, outermost first: GraphsLock, HostState::mutex, Executor::mutex_, the ledger's, the timeline's. Nothing
// that a program can see (kernels, copies, callbacks) and no Place of the ledger runs under any of them.
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
#include "host/objects.h"
#include "timing/ledger.h"

namespace warpgrind::host {

struct Work {
  // wait: for what somebody else writes into memory.
  enum class Kind : std::uint8_t { grid, host_function, memory, wait, mark };
  Kind kind = Kind::mark;
  int device = 0;
  // For observers; the number is there once it is issued.
  events::StreamWork::Kind what = events::StreamWork::Kind::mark;
  std::uint64_t memory = 0;  // that it gives or takes
  std::uint64_t id = 0;
  std::shared_ptr<const HostStack> made;  // of a node of a graph: the call that made it
  bool early = false;                     // a grid that the one before it may start (programmatic launch)
  double part_of_gpu = 0;                 // of a grid
  std::function<void()> run;              // may be empty
  timing::Ledger::Place place;            // on the timeline, in issue order

  bool done() const { return done_.load(std::memory_order_acquire); }

 private:
  friend class Executor;
  std::atomic<bool> done_{false};
  timing::Ledger::EntryPtr entry_;
  std::vector<WorkPtr> before_, after_;  // not done yet
  unsigned waits_for_ = 0;
  std::uint64_t ready_tick_ = 0, mark_ = 0;
  std::list<WorkPtr>::iterator pending_;
};

class Executor {
 public:
  static Executor& instance();

  // Next in the stream, after `others` too.
  void issue(Stream& stream, const WorkPtr& work, const std::vector<WorkPtr>& others = {});
  // In no stream, one after the other, each after its `others` alone (nodes of a graph).
  struct Issue {
    WorkPtr work;
    std::vector<WorkPtr> others;
  };
  void issue(std::vector<Issue> works);

  // What was issued on the device and has not ended.
  std::vector<WorkPtr> pending(int device);
  // What is issued to the device's streams from now on comes after this too.
  void hold(int device, const WorkPtr& work);

  // Wait until work has ended, and run what it needs meanwhile.
  void wait(const WorkPtr& work);
  void wait(Stream& stream);  // what is in it; of a legacy default stream: and in the blocking streams
  void wait_device(int device);
  void wait_all();
  // While no work runs, and none begins: for what moves memory. Work that waits for this thread would never end.
  void alone(const std::function<void()>& action);
  bool ended(const Stream& stream);
  // At the end of the process: waits too, but stops what waits for a host that will do nothing any more.
  void end();
  bool ends() const { return ends_.load(std::memory_order_relaxed); }  // work that waits gives up

  // Virtual time: everything issued before has its place. For calls that give times away, or say whether something has
  // ended. Comes back without (false) when a kernel waits for the host.
  bool settle();
  timing::Ledger& ledger() { return ledger_; }

  static bool inside_host_function();
  // The work that the calling thread is inside of: its id; 0: none.
  static std::uint64_t running_work();
  // The host has seen that this is over. (Those that wait say so themselves.)
  void publish_wait(const WorkPtr& work);
  void publish_wait(const Stream& stream);

 private:
  Executor();
  using Lock = std::unique_lock<std::mutex>;
  using Clock = std::chrono::steady_clock;
  // The leader looks for work at this pace; each look in vain doubles it, until the second.
  static constexpr std::chrono::microseconds kTick{100}, kLongestTick{1600};
  struct Running {
    WorkPtr work;
    Clock::time_point begin;
  };
  struct DeviceState {
    WorkPtr legacy_last;            // of the legacy default stream
    std::vector<WorkPtr> blocking;  // of blocking streams, since then
    std::vector<WorkPtr> holds;     // that all streams wait for
    std::list<WorkPtr> pending;     // issued and not done, in order of issue
    std::vector<Running> grids;     // that run now
    device::Device* gpu = nullptr;  // once it is in use
  };

  void look_again();
  void hasten(Lock& lock, const WorkPtr& work);
  void enqueue(const WorkPtr& work, std::vector<WorkPtr> before, std::uint64_t stream);
  void publish(const Work& work, const std::vector<WorkPtr>& before, std::uint64_t stream);
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
  std::vector<DeviceState> devices_;
  std::deque<WorkPtr> ready_;
  std::vector<Running> running_;  // all kinds, all devices
  std::uint64_t tick_ = 1, marks_ = 0, issued_ = 0;
  std::vector<const Work*> awaited_;  // works that threads sleep for in wait()
  unsigned watchers_ = 0;             // threads that look again when anything ends
  unsigned waiters_ = 0, followers_ = 0, quiet_ticks_ = 0;
  std::chrono::microseconds pace_ = kTick;  // between two looks of the leader
  std::atomic<bool> ends_{false};
  std::atomic<bool> observed_{false};  // somebody wants work of streams or waits of the host
  WorkPtr not_hastened_;               // it, or what it comes after, waits for the host
  bool has_leader_ = false, leader_asleep_ = false, no_threads_ = false;
  timing::Ledger ledger_;
};

}  // namespace warpgrind::host
