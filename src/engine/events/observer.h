// Observer interface of a run. wants() returns all events that an observer may need: kernels are compiled for the union
// over all observers, and unwanted events cost nothing. When a launch begins, wants_of() returns the events needed for
// that launch, possibly fewer; only these are published. events.inc lists all events.
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
  bool edges = false;  // LaunchCounts::edges: directions of branches (inline adds)
  // Restricts `accesses` to global memory to strong ones and those to memory that the launch may write. The others keep
  // their speed. The observer may still request all accesses of a launch (wants_of()).
  bool only_written = false;
  // With only_written: also reads of memory that the host can use (managed, pinned, registered).
  bool host_memory = false;
  bool no_shared = false;  // `accesses` excludes shared memory
  // Fewer barrier and exit events: __syncthreads() of all threads at one site is a single BarrierPassed. The exit of a
  // whole warp comes late or never (events::BarrierPassed, events::Exit).
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

// Callbacks may come from several worker threads at once, each with its worker number. The events of one block come
// from one worker at a time. Concurrent launches have different worker numbers (Launch::first_worker). Launch begins
// and ends come one at a time. Host events come from host threads; their `worker` is 0.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual Wants wants() const = 0;  // for any launch, and for the host
  virtual void on_launch_begin(const Launch&) {}
  // Called after on_launch_begin() of all observers: the events wanted for this launch, a subset of wants(). Grids
  // launched by kernels are included.
  virtual Wants wants_of(const Launch&) { return wants(); }
  virtual void on_launch_end(const Launch&, const LaunchCounts&) {}
  // Replaces on_access() for observers with only_written. Return false to get on_access() instead; observers that
  // already handled the affine event then see the access twice.
  virtual bool on_affine_access(const AffineAccess&, unsigned /*worker*/) { return false; }
#define WG_EVENT(name, wanted, Type) \
  virtual void on_##name(const Type&, unsigned /*worker*/) {}
#include "events/events.inc"
#undef WG_EVENT
};

// List of observers and, for each event, of those that want it. A device has one for host events, a launch one for its
// own. The lists are made in advance: warp events come every few nanoseconds.
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
  // Union over all observers.
  const Wants& wants() const {
    return wants_;
  }
  // Observers of accesses to this space.
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
  std::vector<Observer*> shared_access_;  // the subset of `access` that wants shared memory
  Wants wants_;
};

template <class Event>
const std::vector<Observer*>& select_observers(const Audience&, const std::vector<Observer*>& wanting, const Event&) {
  return wanting;
}
inline const std::vector<Observer*>& select_observers(const Audience& to, const std::vector<Observer*>&,
                                                      const Access& a) {
  return to.of_accesses(a.space);
}

// Publishes to the observers that want the event. Callers check the union of Wants first, so that unwanted events are
// not even built.
#define WG_EVENT(name, wanted, Type)                                                       \
  inline void publish_##name(const Audience& to, const Type& event, unsigned worker) {     \
    for (Observer * o : select_observers(to, to.name, event)) o->on_##name(event, worker); \
  }
#include "events/events.inc"
#undef WG_EVENT

}  // namespace warpgrind::events
