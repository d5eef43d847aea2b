// Scheduling of diverged lanes of a warp: which lanes go on if some must wait. Convergence is only an optimisation and
// never changes results. Lanes that wait at the end of a branch for others continue if those others wait for them.
//
// jit::Paths holds a stack (codegen/kernel/path_stack.h). Lanes have arrived at an entry if no entry above holds them
// and they do not run. They wait there with their values in registers. Parked lanes wait with their registers saved.
// Two rules make this safe:
//   - Only lanes that they wait for may disturb lanes that wait in registers (the analysis of forms keeps what they
//     need meanwhile). A parked path runs only if every entry with waiting lanes expects it.
//   - Of several entries with waiting lanes the topmost goes on first: it lies inside the others.
#include "device/execution/paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "device/access/access.h"
#include "device/execution/meeting_events.h"
#include "device/execution/scheduler.h"
#include "device/fault.h"
#include "device/symbols.h"

namespace warpgrind::device {

namespace {

using jit::kParkedPath;
using jit::PathEntry;
using jit::Paths;
using jit::WarpContext;

constexpr std::uint32_t kNone = ~0u;

bool is_parked(const PathEntry& e) {
  return e.target & kParkedPath;
}

ParkedPath& parked_at(WarpFiber& f, const PathEntry& e) {
  return f.parked->of[std::countr_zero(e.mask)];
}

void remove(Paths& p, std::uint32_t k) {
  std::copy(p.entries + k + 1, p.entries + p.depth, p.entries + k);
  --p.depth;
}

// Removes entries whose lanes have all returned.
void drop_empty(Paths& p) {
  PathEntry* end =
      std::remove_if(p.entries, p.entries + p.depth, [&](const PathEntry& e) { return (e.mask & p.live) == 0; });
  p.depth = static_cast<std::uint32_t>(end - p.entries);
}

// The topmost entry with lanes that wait in registers. `expected`: lanes that all such entries wait for or hold.
struct Waiting {
  std::uint32_t entry = kNone;
  LaneMask lanes = 0;
  LaneMask expected = ~0u;
};
Waiting find_waiting(const Paths& p) {
  Waiting w;
  LaneMask above = 0;
  for (std::uint32_t k = p.depth; k-- > 0;) {
    const PathEntry& e = p.entries[k];
    const LaneMask own = e.mask & p.live & ~above;
    above |= e.mask;
    if (is_parked(e) || own == 0) continue;
    w.expected &= e.mask;
    if (w.entry == kNone) w.entry = k, w.lanes = own;
  }
  return w;
}

// Resumes lanes that wait in registers.
void run_waiting(Paths& p, const Waiting& w) {
  const PathEntry e = p.entries[w.entry];
  p.mask = w.lanes;
  p.target = e.target;
  p.current = e.reconverge;
  p.entries[w.entry].mask &= ~w.lanes;
  if ((p.entries[w.entry].mask & p.live) == 0) remove(p, w.entry);
}

// The innermost entry where all these lanes are expected.
std::uint32_t innermost(const Paths& p, LaneMask lanes) {
  for (std::uint32_t k = p.depth; k-- > 0;)
    if (!is_parked(p.entries[k]) && (p.entries[k].mask & lanes) == lanes) return k;
  return kNone;
}

bool same_state(const ParkedPath& a, const ParkedPath& b) {
  return a.place == b.place && a.waits_for == b.waits_for && a.result == b.result &&
         (a.waits_for != ParkedPath::For::members || a.members != b.members || a.participants == b.participants) &&
         a.scalar_bytes == b.scalar_bytes && std::memcmp(a.saved.data(), b.saved.data(), a.scalar_bytes) == 0;
}

void restore_next(WarpFiber& f, Paths& p) {
  ParkedPaths& all = *f.parked;
  const auto index = static_cast<unsigned>(std::countr_zero(all.joining));
  ParkedPath& path = all.of[index];
  all.joining &= all.joining - 1;
  all.in_use &= ~(1u << index);
  p.restore = path.mask;
  p.saved = path.saved.data();
  path.mask = 0;
}

// Resumes a parked path, and with it all paths parked at the same place in the same state.
void run_parked(WarpFiber& f, Paths& p, std::uint32_t chosen, LaneMask expected) {
  WarpContext& c = f.context;
  ParkedPaths& all = *f.parked;
  const PathEntry e = p.entries[chosen];
  ParkedPath& first = parked_at(f, e);
  const std::uint32_t point = innermost(p, e.mask);
  all.joining = 0;
  p.mask = 0;
  p.target = e.target;
  p.current = e.reconverge;
  c.participants = 0;
  c.barrier_result = first.result;
  for (std::uint32_t k = p.depth; k-- > 0;) {
    const PathEntry& other = p.entries[k];
    if (!is_parked(other) || other.target != e.target || other.reconverge != e.reconverge) continue;
    ParkedPath& path = parked_at(f, other);
    if (k != chosen && (!path.may_run() || (other.mask & ~expected) != 0 || innermost(p, other.mask) != point ||
                        !same_state(first, path)))
      continue;
    p.mask |= other.mask;
    all.joining |= 1u << std::countr_zero(other.mask);
    c.participants |= path.participants;
    for (LaneMask lanes = path.participants; lanes; lanes &= lanes - 1) {
      const auto l = static_cast<unsigned>(std::countr_zero(lanes));
      c.brought[l] = path.brought[l];
    }
  }
  PathEntry* end = std::remove_if(p.entries, p.entries + p.depth,
                                  [&](const PathEntry& x) { return is_parked(x) && (x.mask & p.mask) != 0; });
  p.depth = static_cast<std::uint32_t>(end - p.entries);
  f.spinning = p.mask;
  restore_next(f, p);
}

const char* what_for(const ParkedPath& p) {
  switch (p.waits_for) {
    case ParkedPath::For::members:
      return "waits for the lanes of its member mask";
    case ParkedPath::For::barrier:
      return "waits at a barrier";
    case ParkedPath::For::cluster:
      return "waits at a barrier of its cluster";
    default:
      return "waits for memory";
  }
}

}  // namespace

Fault member_deadlock(const Launch& launch, const WarpFiber& f, const ParkedPath& first) {
  Fault fault = describe(launch, FaultKind::member_deadlock, first.site);
  set_thread(fault, f.context, static_cast<unsigned>(std::countr_zero(first.mask)));
  fault.message =
      fmt::format("deadlock: lanes {:#010x} wait for lanes {:#010x} of their member mask, which wait elsewhere",
                  first.mask, first.members & live_lanes(f.context) & ~first.mask);
  fault.advice = "let every lane of a member mask execute the .sync operation with the same mask";
  return fault;
}

namespace {

[[noreturn]] void report_members(WarpFiber& f, const ParkedPath& first) {
  Launch& launch = *f.worker->launch;
  Fault fault = member_deadlock(launch, f, first);
  f.waits_by_path = true;
  add_places(launch, f, fault.warps);
  add_waiting(launch, f, fault.waiting);
  record(launch, std::move(fault), f.block_linear, f.context.warp);
  leave_launch(*f.worker);
}

// Called if no lane of this frame can go on, and nothing outside the warp can change that. In a called function the
// missing lanes may be in the caller; they cannot run before it returns.
void give_up_meeting(WarpFiber& f, Paths& p) {
  ParkedPath* first = nullptr;
  for (std::uint32_t k = 0; k < p.depth; ++k)
    if (is_parked(p.entries[k]) && parked_at(f, p.entries[k]).waits_for == ParkedPath::For::members) {
      first = &parked_at(f, p.entries[k]);
      break;
    }
  if (!first) report_deadlock(*f.worker);
  LaneMask here = 0;
  for (std::uint32_t k = 0; k < p.depth; ++k) here |= p.entries[k].mask;
  const LaneMask missing = first->members & live_lanes(f.context) & ~first->mask;
  if ((missing & ~here) == 0) report_members(f, *first);
  wg_missing_members(&f.context, first->site, first->mask, missing);
  publish_meeting(f.context, {first->site, first->mask, first->members, first->mask});
  first->participants = first->mask;
  first->released = true;
}

// Completes the meeting if all of these members have arrived.
void try_to_meet(WarpFiber& f, LaneMask members) {
  ParkedPaths& all = *f.parked;
  LaneMask here = 0, paths = 0, awaited = 0;
  for (LaneMask k = all.in_use; k; k &= k - 1) {
    const auto index = static_cast<unsigned>(std::countr_zero(k));
    const ParkedPath& path = all.of[index];
    if (path.released || path.waits_for != ParkedPath::For::members || path.members != members) continue;
    here |= path.mask;
    awaited |= path.live;
    paths |= 1u << index;
  }
  if ((members & live_lanes(f.context) & ~here) != 0) return;
  std::uint64_t brought[kWarpSize] = {};
  for (LaneMask k = paths; k; k &= k - 1) {
    const ParkedPath& path = all.of[std::countr_zero(k)];
    for (LaneMask l = path.mask; l; l &= l - 1) brought[std::countr_zero(l)] = path.brought[std::countr_zero(l)];
  }
  for (LaneMask k = paths; k; k &= k - 1) {
    ParkedPath& path = all.of[std::countr_zero(k)];
    publish_meeting(f.context, {path.site, path.mask, path.members, here, members & awaited & ~here});
    path.released = true;
    path.participants = here;
    std::copy(std::begin(brought), std::end(brought), path.brought);
  }
}

// Checks again for paths that waited for lanes which have exited meanwhile.
void look_again(WarpFiber& f) {
  if (!f.parked) return;
  for (LaneMask k = f.parked->in_use; k; k &= k - 1) {
    const ParkedPath& path = f.parked->of[std::countr_zero(k)];
    if (!path.released && path.waits_for == ParkedPath::For::members) try_to_meet(f, path.members);
  }
  count_exited(f);
}

enum class Reason { spins, stopped };

void choose(WarpFiber& f, Paths& p, Reason reason) {
  leave_round(*f.worker, f);
  look_again(f);
  drop_empty(p);
  for (;;) {
    const Waiting w = find_waiting(p);
    // All expected lanes have arrived: the common case.
    if (w.entry != kNone && w.lanes == (p.entries[w.entry].mask & p.live)) return run_waiting(p, w);
    std::uint32_t released = kNone, spinner = kNone;
    for (std::uint32_t k = 0; k < p.depth; ++k) {
      const PathEntry& e = p.entries[k];
      if (!is_parked(e) || (e.mask & ~w.expected) != 0) continue;
      const ParkedPath& path = parked_at(f, e);
      if (path.released)
        released = k;
      else if (path.may_run() && (spinner == kNone || path.turn < parked_at(f, p.entries[spinner]).turn))
        spinner = k;
    }
    if (released != kNone) return run_parked(f, p, released, w.expected);
    // A loop that has yielded gets another turn when the lanes that ran instead stop.
    if (reason == Reason::stopped && spinner != kNone) return run_parked(f, p, spinner, w.expected);
    if (w.entry != kNone) return run_waiting(p, w);
    if (spinner != kNone) return run_parked(f, p, spinner, w.expected);
    bool at_barrier = false;
    for (std::uint32_t k = 0; k < p.depth; ++k)
      at_barrier |= is_parked(p.entries[k]) && parked_at(f, p.entries[k]).waits_outside();
    if (!at_barrier) {
      give_up_meeting(f, p);
      continue;
    }
    f.state = WarpState::barrier;
    f.waits_by_path = true;
    suspend(*f.worker, f);
    f.waits_by_path = false;
  }
}

// Parks running lanes.
ParkedPath& park(WarpFiber& f, Paths& p, LaneMask lanes, std::uint32_t site, std::uint32_t place) {
  if (!f.parked) f.parked = std::make_unique<ParkedPaths>();
  if (p.depth + 2 > jit::kPathEntries - 2 * kWarpSize / 2) drop_empty(p);
  if (p.depth + 1 >= jit::kPathEntries)
    raise(f.context, site, static_cast<unsigned>(std::countr_zero(lanes)), FaultKind::out_of_resources,
          "the lanes of a warp are on more divergent paths than the virtual GPU can handle");
  ParkedPaths& all = *f.parked;
  const auto index = static_cast<unsigned>(std::countr_zero(lanes));
  ParkedPath& path = all.of[index];
  all.in_use |= 1u << index;
  path.fiber = &f;
  path.mask = lanes;
  path.frame = &p;
  path.site = site;
  path.place = place;
  path.released = false;
  path.turn = ++all.turns;
  path.members = path.participants = 0;
  path.live = live_lanes(f.context);
  path.result = 0;
  path.scalar_bytes = p.scalar_bytes;
  path.saved.assign(p.saved, p.saved + p.saved_bytes);
  p.entries[p.depth++] = {lanes, kParkedPath | place, p.current};
  return path;
}

}  // namespace

void add_places(const Launch& launch, const WarpFiber& f, std::vector<std::string>& places) {
  if (!f.waits_by_path) {
    if (places.size() < kPlacesListed) places.push_back(place_of(launch, f, f.wait_site, "waits at a barrier"));
    return;
  }
  for (LaneMask k = f.parked->in_use; k && places.size() < kPlacesListed; k &= k - 1) {
    const ParkedPath& path = f.parked->of[std::countr_zero(k)];
    places.push_back(
        place_of(launch, f, path.site, fmt::format("lanes {:#010x} {}", path.mask, what_for(path)).c_str()));
  }
}

void add_waiting(const Launch& launch, const WarpFiber& f, std::vector<FaultPlace>& waiting) {
  if (!f.waits_by_path) {
    waiting.push_back(fault_place(launch, f, f.wait_site, live_lanes(f.context), "waits at a barrier"));
    return;
  }
  for (LaneMask k = f.parked->in_use; k; k &= k - 1) {
    const ParkedPath& path = f.parked->of[std::countr_zero(k)];
    waiting.push_back(fault_place(launch, f, path.site, path.mask, what_for(path)));
  }
}

const ParkedPath* waits_for_members(const WarpFiber& f) {
  if (!f.waits_by_path) return nullptr;
  for (LaneMask k = f.parked->in_use; k; k &= k - 1) {
    const ParkedPath& path = f.parked->of[std::countr_zero(k)];
    if (!path.released && path.waits_for == ParkedPath::For::members) return &path;
  }
  return nullptr;
}

void release_parked(Worker& w, ParkedPath& path, std::uint32_t result) {
  path.released = true;
  path.result = result;
  if (!path.fiber->waits_by_path) return;
  path.fiber->waits_by_path = false;
  queue_ready(w, path.fiber);
}

bool some_may_run(const WarpFiber& f) {
  if (!f.parked) return false;
  for (LaneMask k = f.parked->in_use; k; k &= k - 1)
    if (f.parked->of[std::countr_zero(k)].released) return true;
  return false;
}

}  // namespace warpgrind::device

using namespace warpgrind;
using namespace warpgrind::device;

extern "C" {

void wg_meet(void* context, std::uint32_t site, std::uint32_t place, void* paths) {
  jit::WarpContext& c = warp(context);
  WarpFiber& f = fiber_of(c);
  auto& p = *static_cast<jit::Paths*>(paths);
  // Lanes that name different members wait for different lanes.
  for (LaneMask left = p.mask; left;) {
    const auto lowest = static_cast<unsigned>(std::countr_zero(left));
    const LaneMask members = c.members[lowest];
    LaneMask group = 0;
    for (LaneMask l = left; l; l &= l - 1)
      if (c.members[std::countr_zero(l)] == members) group |= l & -l;
    left &= ~group;
    ParkedPath& path = park(f, p, group, site, place);
    path.waits_for = ParkedPath::For::members;
    path.members = members | group;
    for (LaneMask l = group; l; l &= l - 1) path.brought[std::countr_zero(l)] = c.brought[std::countr_zero(l)];
    try_to_meet(f, path.members);
  }
  p.mask = 0;
  choose(f, p, Reason::stopped);
}

void wg_wait_at_barrier(void* context, std::uint32_t site, std::uint32_t place, std::uint32_t id, std::uint32_t threads,
                        std::uint32_t predicate, std::uint32_t operation, void* paths) {
  jit::WarpContext& c = warp(context);
  WarpFiber& f = fiber_of(c);
  auto& p = *static_cast<jit::Paths*>(paths);
  ParkedPath& path = park(f, p, p.mask, site, place);
  path.waits_for = ParkedPath::For::barrier;
  path.barrier = id;
  path.operation = operation;
  arrive_some(c, path, threads, predicate);
  p.mask = 0;
  choose(f, p, Reason::stopped);
}

void wg_wait_for_cluster(void* context, std::uint32_t site, std::uint32_t place, void* paths) {
  WarpFiber& f = fiber_of(warp(context));
  auto& p = *static_cast<jit::Paths*>(paths);
  const LaneMask held = held_by_cluster(f, p.mask);
  for (const LaneMask group : {held, p.mask & ~held})
    if (group) wait_for_cluster(f, park(f, p, group, site, place));
  p.mask = 0;
  choose(f, p, Reason::stopped);
}

void wg_give_way(void* context, std::uint32_t site, std::uint32_t place, void* paths) {
  WarpFiber& f = fiber_of(warp(context));
  auto& p = *static_cast<jit::Paths*>(paths);
  park(f, p, p.mask, site, place).waits_for = ParkedPath::For::memory;
  p.mask = 0;
  choose(f, p, Reason::spins);
}

void wg_next_path(void* context, void* paths) {
  WarpFiber& f = fiber_of(warp(context));
  choose(f, *static_cast<jit::Paths*>(paths), Reason::stopped);
}

std::uint32_t wg_join_path(void* context, void* paths) {
  WarpFiber& f = fiber_of(warp(context));
  if (f.parked->joining == 0) return 0;
  restore_next(f, *static_cast<jit::Paths*>(paths));
  return 1;
}

void wg_absent_lanes(void* context, std::uint32_t site, std::uint32_t readers) {
  jit::WarpContext& c = warp(context);
  Launch& launch = launch_of(c);
  if (launch.wants.absent_lanes) {
    events::AbsentLanes event;
    static_cast<events::WarpEvent&>(event) = warp_event(c, site, readers);
    events::publish_absent_lanes(*launch.observers, event, worker_of(c).number);
  }
  warn(warp(context), site, static_cast<unsigned>(std::countr_zero(readers)), FaultKind::absent_lanes,
       "a shuffle reads from lanes that do not execute it",
       "in CUDA the value is undefined; an H200 and warpgrind return 0. This is harmless if the result is not used");
}

void wg_missing_members(void* context, std::uint32_t site, std::uint32_t mask, std::uint32_t missing) {
  warn(
      warp(context), site, static_cast<unsigned>(std::countr_zero(mask)), FaultKind::warp_mismatch,
      fmt::format("lanes {:#010x} of the member mask do not reach this function: the other lanes continue without them",
                  missing),
      "a function that is not inlined cannot wait for lanes in its caller: inline it (__forceinline__)");
}

}  // extern "C"
