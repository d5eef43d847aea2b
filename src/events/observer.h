// Watching a run. An observer says at compile time what it wants (wants()); the JIT emits the union, nothing wanted
// costs nothing. The events are a table: events.inc.
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
  // speed. Observer::wants_all_accesses may ask for more.
  bool only_written = false;
  // With only_written: also what the launch reads of memory that the host can use (managed, pinned, registered).
  bool host_memory = false;
  Wants operator|(const Wants& o) const {
    Wants both;
    both.counts = counts || o.counts;
#define WG_EVENT(name, wanted, Type) both.wanted = wanted || o.wanted;
#include "events/events.inc"
#undef WG_EVENT
    both.edges = edges || o.edges;
    both.host_memory = host_memory || o.host_memory;
    both.only_written = (!accesses || only_written) && (!o.accesses || o.only_written);
    return both;
  }
};

// Callbacks may come from several worker threads at once, each with its number: those of one block come from one worker
// at a time, and launches that run at the same time have different ones (Launch::first_worker). Beginnings and ends of
// launches come one at a time. Events of the host come from its threads; their `worker` is 0.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual Wants wants() const = 0;
  virtual void on_launch_begin(const Launch&) {}
  // After on_launch_begin, of observers with only_written: what the launch only reads, too.
  virtual bool wants_all_accesses(const Launch&) { return false; }
  virtual void on_launch_end(const Launch&, const LaunchCounts&) {}
  // Instead of on_access, of observers with only_written. False: on_access is called, by all who want accesses; of some
  // the second time then.
  virtual bool on_affine_access(const AffineAccess&, unsigned /*worker*/) { return false; }
#define WG_EVENT(name, wanted, Type) \
  virtual void on_##name(const Type&, unsigned /*worker*/) {}
#include "events/events.inc"
#undef WG_EVENT
};

// Observers, and of each event those that want it. They are asked when they are added: events of warps come every few
// nanoseconds.
class Audience {
 public:
  void add(Observer& observer) {
    const Wants wants = observer.wants();
    all_.push_back(&observer);
#define WG_EVENT(name, wanted, Type) \
  if (wants.wanted) name.push_back(&observer);
#include "events/events.inc"
#undef WG_EVENT
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
};

// To those that want it. Callers look first whether anybody does (the union of Wants), so that nothing else is made.
#define WG_EVENT(name, wanted, Type)                                                   \
  inline void publish_##name(const Audience& to, const Type& event, unsigned worker) { \
    for (Observer * o : to.name) o->on_##name(event, worker);                          \
  }
#include "events/events.inc"
#undef WG_EVENT

}  // namespace warpgrind::events
