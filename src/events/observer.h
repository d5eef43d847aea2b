// Watching a run. An observer says what it may want (wants()): kernels are compiled for the union, and what nobody
// wants costs nothing. When a launch begins it says what it wants of that one (wants_of()), which may be less: only
// this is made and told. The events are a table: events.inc.
#pragma once

#include <cstdint>
#include <vector>

#include "events/events.h"
#include "events/scoreboard.h"
#include "events/site.h"

namespace warpgrind::events {

struct Wants {
  bool counts = false;  // LaunchCounts at the end of each launch (inline adds: nearly free)
#define WG_EVENT(name, wanted, Type) bool wanted = false;
#include "events/events.inc"
#undef WG_EVENT
  bool edges = false;  // LaunchCounts::edges: which way each branch went (inline adds)
  // Of `accesses` to global memory only those to what the launch may write, and strong ones: the others keep their
  // speed. An observer with it may ask for all of a launch (wants_of()).
  bool only_written = false;
  // With only_written: also what the launch reads of memory that the host can use (managed, pinned, registered).
  bool host_memory = false;
  bool no_shared = false;  // of `accesses` none to shared memory
  // Of barriers and exits only what is not as always: __syncthreads() of all threads at one site is one BarrierPassed,
  // and a warp that leaves as a whole is told late or never (events::BarrierPassed, events::Exit).
  bool whole_blocks = false;
  Wants operator|(const Wants& o) const {
    Wants both;
    both.counts = counts || o.counts;
#define WG_EVENT(name, wanted, Type) both.wanted = wanted || o.wanted;
#include "events/events.inc"
#undef WG_EVENT
    both.edges = edges || o.edges;
    both.host_memory = host_memory || o.host_memory;
    both.only_written = (!accesses || only_written) && (!o.accesses || o.only_written);
    both.no_shared = (!accesses || no_shared) && (!o.accesses || o.no_shared);
    const auto fine = [](const Wants& w) { return w.whole_blocks || !(w.barriers || w.barriers_passed || w.exits); };
    both.whole_blocks = fine(*this) && fine(o);
    return both;
  }
};

// Callbacks may come from several worker threads at once, each with its number: those of one block come from one worker
// at a time, and launches that run at the same time have different ones (Launch::first_worker). Beginnings and ends of
// launches come one at a time. Events of the host come from its threads; their `worker` is 0.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual Wants wants() const = 0;  // of any launch, and of the host
  virtual void on_launch_begin(const Launch&) {}
  // Of this launch, after on_launch_begin() of all observers: some of the events that wants() names. Of a grid that a
  // kernel launches it is asked like of any other.
  virtual Wants wants_of(const Launch&) { return wants(); }
  virtual void on_launch_end(const Launch&, const LaunchCounts&) {}
  // Instead of on_access, of observers with only_written. False: on_access is called, by all who want accesses; of some
  // the second time then.
  virtual bool on_affine_access(const AffineAccess&, unsigned /*worker*/) { return false; }
#define WG_EVENT(name, wanted, Type) \
  virtual void on_##name(const Type&, unsigned /*worker*/) {}
#include "events/events.inc"
#undef WG_EVENT
};

// Observers, and of each event those that want it: of a device for what the host does, of each launch for what happens
// in it. They are asked before: events of warps come every few nanoseconds.
class Audience {
 public:
  void add(Observer& observer, const Wants& wants) {
    all_.push_back(&observer);
    wants_ = wants_ | wants;
    if (wants.accesses && !wants.no_shared) shared_access_.push_back(&observer);
#define WG_EVENT(name, wanted, Type) \
  if (wants.wanted) name.push_back(&observer);
#include "events/events.inc"
#undef WG_EVENT
  }
  void clear() {
    all_.clear();
    wants_ = {};
    shared_access_.clear();
#define WG_EVENT(name, wanted, Type) name.clear();
#include "events/events.inc"
#undef WG_EVENT
  }
  // What any of them wants.
  const Wants& wants() const {
    return wants_;
  }
  // Who wants accesses to such memory.
  const std::vector<Observer*>& of_accesses(StateSpace space) const {
    return space == StateSpace::shared ? shared_access_ : access;
  }
  bool empty() const {
    return all_.empty();
  }
  auto begin() const {
    return all_.begin();
  }
  auto end() const {
    return all_.end();
  }

#define WG_EVENT(name, wanted, Type) std::vector<Observer*> name;
#include "events/events.inc"
#undef WG_EVENT

 private:
  std::vector<Observer*> all_;
  std::vector<Observer*> shared_access_;  // of `access`
  Wants wants_;
};

template <class Event>
const std::vector<Observer*>& told_of(const Audience&, const std::vector<Observer*>& wanting, const Event&) {
  return wanting;
}
inline const std::vector<Observer*>& told_of(const Audience& to, const std::vector<Observer*>&, const Access& a) {
  return to.of_accesses(a.space);
}

// To those that want it. Callers look first whether anybody does (the union of Wants), so that nothing else is made.
#define WG_EVENT(name, wanted, Type)                                                   \
  inline void publish_##name(const Audience& to, const Type& event, unsigned worker) { \
    for (Observer * o : told_of(to, to.name, event)) o->on_##name(event, worker);      \
  }
#include "events/events.inc"
#undef WG_EVENT

}  // namespace warpgrind::events
