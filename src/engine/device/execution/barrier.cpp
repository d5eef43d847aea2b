// Barriers, yields and stops: the places where a warp gives up the processor.
#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <thread>
#include <utility>

#include "device/access/access.h"
#include "device/execution/meeting_events.h"
#include "device/execution/order.h"
#include "device/execution/paths.h"
#include "device/execution/scheduler.h"
#include "device/fault.h"
#include "device/module.h"
#include "device/state.h"
#include "device/symbols.h"

namespace warpgrind::device {

namespace {

std::uint32_t needed(const Launch& launch, const Block& b, const Barrier& barrier) {
  return barrier.expected ? barrier.expected : launch.threads_per_block - b.exited;
}

// The barrier is complete: clears the lanes that arrived at it without the rest of their warp.
[[gnu::noinline]] void forget_parts(Worker& w, const Block& b, std::uint32_t id) {
  for (const auto& f : w.fibers)
    if (f->block == &b) f->apart_at &= ~(1u << id);
}

// Makes the waiting warps ready, in list order. Their state stays `barrier` until they run; it is read only when no
// warp is ready.
inline void release(Worker& w, Block& b, Barrier& barrier) {
  if (w.launch->barriers_observed) [[unlikely]]
    publish_passed(w, b, barrier);
  if (barrier.reduces)
    for (WarpFiber* f = barrier.first; f; f = f->next)
      f->context.barrier_result = barrier_reduction(barrier, f->barrier_operation);
  if (barrier.first) {
    (w.ready_last ? w.ready_last->next : w.ready_first) = barrier.first;
    w.ready_last = barrier.last;
  }
  for (ParkedPath* p = barrier.parked; p; p = p->next)
    release_parked(w, *p, barrier.reduces ? barrier_reduction(barrier, p->operation) : 0);
  if (barrier.in_parts) [[unlikely]]
    forget_parts(w, b, static_cast<std::uint32_t>(&barrier - b.barriers));
  barrier = {};
  w.idle_turns = 0;
}

// Completes the warp's arrival at each barrier where all its remaining lanes `alive` have arrived.
void complete_parts(WarpFiber& f, LaneMask alive) {
  for (std::uint32_t left = f.apart_at; left != 0; left &= left - 1) {
    const auto id = static_cast<unsigned>(std::countr_zero(left));
    if ((alive & ~f.came_apart[id]) != 0) continue;
    f.apart_at &= ~(1u << id);
    f.block->barriers[id].arrived += kWarpSize;
  }
}

// Counts lanes of a warp that arrive at a barrier with a count.
void count_warp(WarpFiber& f, Barrier& barrier, std::uint32_t id, LaneMask lanes) {
  const LaneMask alive = live_lanes(f.context);
  const std::uint32_t here = 1u << id;
  if (lanes == alive && !(f.apart_at & here)) {
    barrier.arrived += kWarpSize;
    return;
  }
  if (!f.came_apart) f.came_apart = std::make_unique<LaneMask[]>(kBarriers);
  f.came_apart[id] = lanes | (f.apart_at & here ? f.came_apart[id] : 0);
  f.apart_at |= here;
  barrier.in_parts = true;
  complete_parts(f, alive);
}

// Barriers no longer wait for threads that have left the kernel. Returns true if some have left since the last call.
bool note_exited(WarpFiber& f) {
  const auto exited = static_cast<std::uint32_t>(std::popcount(f.context.exited));
  if (exited == f.exited_counted) return false;
  if (f.apart_at) [[unlikely]]
    complete_parts(f, live_lanes(f.context));
  f.block->exited += exited - f.exited_counted;
  if (f.block->cluster) cluster_exited(f, exited - f.exited_counted, f.context.exited);
  f.exited_counted = exited;
  return true;
}

// An H100 ends such a kernel with an illegal instruction. With two counts, one would be reached at the wrong time.
[[noreturn, gnu::noinline]] void raise_other_count(jit::WarpContext& c, const Arrival& a, std::uint32_t expected) {
  const auto text = [](std::uint32_t threads) {
    return threads ? fmt::format("{} threads", threads) : std::string("all threads of the block (no count)");
  };
  raise(c, a.site, static_cast<unsigned>(std::countr_zero(a.mask | 1u << 31)), FaultKind::barrier_count,
        fmt::format("barrier {} waits for {} here, but for {} where other threads have already arrived", a.id,
                    text(a.threads), text(expected)),
        "use the same thread count at every place of one barrier, and another barrier number for every other group");
}

// Counts the arrival. Returns true if it was the last one.
bool arrive(jit::WarpContext& c, const Arrival& a, const LaneMask* predicate) {
  WarpFiber& f = fiber_of(c);
  Worker& w = *f.worker;
  Block& b = *f.block;
  const Launch& launch = *w.launch;
  leave_round(w, f);
  if (a.id >= kBarriers)
    raise(c, a.site, a.mask ? static_cast<unsigned>(std::countr_zero(a.mask)) : 0, FaultKind::barrier_number,
          fmt::format("barrier {} does not exist; valid numbers are 0 to 15", a.id));
  if (launch.barriers_observed) [[unlikely]]
    publish_waiting(w, b.barriers[a.id]);
  publish_arrival(c, a);
  count_exited(f);
  give_time(f);
  Barrier& barrier = b.barriers[a.id];
  b.barriers_in_use = std::max(b.barriers_in_use, a.id + 1);
  constexpr std::uint32_t kBeyondAnyBlock = 1u << 20;
  const std::uint32_t expected = (std::min(a.threads, kBeyondAnyBlock) + kWarpSize - 1) / kWarpSize * kWarpSize;
  if (expected != barrier.expected && (barrier.arrived != 0 || barrier.in_parts))
    raise_other_count(c, a, barrier.expected);
  barrier.expected = expected;
  if (expected)
    count_warp(f, barrier, a.id, a.mask);
  else
    barrier.arrived += static_cast<std::uint32_t>(std::popcount(a.mask));
  if (predicate) {
    const LaneMask yes = *predicate & a.mask;
    barrier.reduces = true;
    barrier.popc += static_cast<std::uint32_t>(std::popcount(yes));
    barrier.all = barrier.all && yes == a.mask;
    barrier.any = barrier.any || yes != 0;
  }
  if (barrier.arrived < needed(launch, b, barrier)) return false;
  take_time(f);
  return true;
}

// Lanes of an arrival in machine code that cannot park them (a called function). The rest of the warp is in the caller
// and cannot run before they return, so the warp counts as a whole.
LaneMask all_if_apart(jit::WarpContext& c, const Arrival& a) {
  const LaneMask alive = c.initial_mask & ~c.exited;
  if (a.mask == alive) return alive;
  warn(c, a.site, static_cast<unsigned>(std::countr_zero(alive & ~a.mask)), FaultKind::barrier_mismatch,
       "only some threads of a warp reach this barrier in a function that is not inlined",
       "move __syncthreads() out of code that depends on the thread index, or inline the function (__forceinline__); "
       "here the barrier counts the whole warp");
  return alive;
}

// Whether a warp of the block has been released from a barrier and has not run since.
bool somebody_is_behind(const WarpFiber& f) {
  for (const WarpFiber* other = f.worker->ready_first; other; other = other->next)
    if (other->block == f.block && (other->state == WarpState::barrier || other->state == WarpState::due)) return true;
  return false;
}

bool alone(const jit::WarpContext& c, const Arrival& a) {
  return c.initial_mask == a.mask && fiber_of(const_cast<jit::WarpContext&>(c)).block->warps == 1 &&
         a.threads <= kWarpSize && !launch_of(const_cast<jit::WarpContext&>(c)).barriers_observed && a.id < kBarriers;
}

// Whether this is a __syncthreads() of a whole warp, all earlier arrivals were the same at the same site, and no thread
// has left. If this holds until the barrier is complete, observers get one event.
bool is_of_whole_block(const WarpFiber& f, const Arrival& a) {
  const jit::WarpContext& c = f.context;
  const Block& b = *f.block;
  const Barrier& all = b.barriers[0];
  return f.worker->launch->whole_barriers && (a.id | a.threads | c.exited | b.exited | all.expected) == 0 &&
         a.mask == c.initial_mask && (all.arrived == 0 || all.whole_site == a.site);
}

void come_whole(WarpFiber& f, const Arrival& a) {
  Worker& w = *f.worker;
  Block& b = *f.block;
  Barrier& all = b.barriers[0];
  b.barriers_in_use = std::max(b.barriers_in_use, 1u);
  all.whole_site = a.site;
  all.arrived += static_cast<std::uint32_t>(std::popcount(a.mask));
  queue_at(f, all, a.site, 0);
  if (all.arrived == w.launch->threads_per_block) release(w, b, all);
}

// A warp arrives at a barrier (with a predicate: a reduction) and waits. After the last arrival all go on in order of
// arrival, observed or not, so that a program prints the same with `check`.
void come(jit::WarpContext& c, const Arrival& a, const LaneMask* predicate) {
  WarpFiber& f = fiber_of(c);
  if (!predicate && is_of_whole_block(f, a)) return come_whole(f, a);
  const bool last = arrive(c, a, predicate);
  Barrier& barrier = f.block->barriers[a.id];
  queue_at(f, barrier, a.site, a.id);
  if (last) release(*f.worker, *f.block, barrier);
}

// Not inlined, so that the common case saves no registers for it. Returns true if the warp must wait.
[[gnu::noinline]] bool come_to_any(jit::WarpContext& c, const Arrival& a) {
  if (a.mask == 0 || alone(c, a)) return false;
  fiber_of(c).barrier_operation = 0;
  come(c, a, nullptr);
  return true;
}
[[gnu::noinline]] void wait_at_any(jit::WarpContext& c, Arrival a) {
  if (a.mask != 0 && !alone(c, a)) a.mask = all_if_apart(c, a);
  if (come_to_any(c, a)) suspend(*fiber_of(c).worker, fiber_of(c));
}

// The common case: an unobserved __syncthreads() of a whole block.
inline bool is_plain(const WarpFiber& f, std::uint32_t id, std::uint32_t threads, LaneMask mask, bool unobserved) {
  const Block& b = *f.block;
  return (id | threads | f.context.exited | b.exited | b.barriers[0].expected) == 0 && mask == f.context.initial_mask &&
         unobserved && b.barriers_in_use != 0;
}
// Returns true for the last arrival.
inline bool come_plain(WarpFiber& f, std::uint32_t site, LaneMask mask) {
  Barrier& all = f.block->barriers[0];
  all.arrived += static_cast<std::uint32_t>(std::popcount(mask));
  queue_at(f, all, site, 0);
  return all.arrived == f.block->threads;
}

// Warp that runs next in place of one at the end of a region. Null: the worker's loop decides.
inline void* next_in_place(Worker& w) {
  WarpFiber* const next = w.ready_first;
  if (w.starting || !next || next->on_stack || w.launch->interrupt.load(std::memory_order_acquire) != 0) return nullptr;
  begin_to_run(w, *next_ready(w));
  return &next->context;
}

// The rest of wg_come_to_barrier, not inlined so that that function saves no registers.
[[gnu::noinline]] void* release_and_go_on(WarpFiber& f) {
  Worker& w = *f.worker;
  if (WarpFiber* first = begin_round(w, *f.block)) {
    w.current = first;
    return &first->context;
  }
  release(w, *f.block, f.block->barriers[0]);
  return next_in_place(w);
}
[[gnu::noinline]] void* end_region_at_any(WarpFiber& f, std::uint32_t site, std::uint32_t id, std::uint32_t threads,
                                          LaneMask mask) {
  // With another order than forward, a warp may also be suspended at places that region ends do not handle.
  if (f.worker->launch->ordered) return wg_barrier(&f.context, site, id, threads, mask), &f.context;
  return come_to_any(f.context, {site, id, threads, mask}) ? nullptr : &f.context;
}

// Counts a round in which every warp of the worker only spun. Returns true if no worker can progress. Lack of CPU time
// is excluded: each has checked all its conditions again since this one began to spin.
bool is_stalled(Worker& w, const Launch& launch) {
  constexpr std::uint64_t kRoundsLooked = 3;
  w.rounds.fetch_add(1, std::memory_order_relaxed);
  ++w.idle_rounds;
  w.spins_only.store(true, std::memory_order_relaxed);
  bool stuck = w.idle_rounds >= kRoundsLooked;
  for (const auto& other : *launch.all_workers) {
    if (other.get() == &w || other->index >= launch.running_workers) continue;
    if (other->finished.load(std::memory_order_relaxed)) continue;
    const std::uint64_t rounds = other->rounds.load(std::memory_order_relaxed);
    if (w.idle_rounds == 1) w.seen_rounds[other->index] = rounds;
    if (!other->spins_only.load(std::memory_order_relaxed) || rounds - w.seen_rounds[other->index] < kRoundsLooked)
      stuck = false;
  }
  return stuck;
}

// Pauses while this worker waits for another one. Each poll counts as an access of the kernel, and takes CPU time that
// the other worker may need. The pause advances the warp's own clock too, which may bound the waiting.
void wait_for_others(const Worker& w, jit::WarpContext& c) {
  constexpr std::uint64_t kRoundsAtOnce = 2;
  constexpr auto kPause = std::chrono::microseconds(20);
  if (w.idle_rounds <= kRoundsAtOnce) {
    sched_yield();
    return;
  }
  std::this_thread::sleep_for(kPause);
  c.cycles += static_cast<std::uint64_t>(kPause.count()) * c.sm_clock_khz / 1000;
}

// Case: more blocks than fit on the GPU, all running ones wait, and a new block helps. In the order of block numbers
// some block can always go on, but CUDA does not promise that order.
void warn_of_order(WarpFiber& f) {
  const LaneMask alive = f.context.initial_mask & ~f.context.exited;
  warn(f.context, f.polled_site, static_cast<unsigned>(std::countr_zero(alive | 1u << 31)), FaultKind::block_order,
       "blocks wait here for a block that has not started, and the grid has more blocks than fit on the GPU",
       "CUDA guarantees no start order of blocks: let each block take its number from a counter (atomicAdd) when it "
       "starts, and wait only for lower numbers");
}

// Whether a worker whose warps all wait may begin another block of a grid that does not fit on the GPU. The block could
// be resident together with those that wait. Their stacks and local memory take room, so there is a limit.
bool may_begin_later(const Worker& w) {
  constexpr std::uint64_t kRounds = 4;
  constexpr std::uint32_t kMostWarps = 1024;
  const Launch& launch = *w.launch;
  return w.idle_rounds >= kRounds && w.live_blocks * std::uint64_t{launch.running_workers} < launch.resident &&
         w.live_blocks * launch.warps_per_block < kMostWarps;
}

// Called by a spinning warp. If all warps here only spin, they may wait for a block that has not begun, for another
// worker, or for lanes of the same warp. A block that has not begun means a hand-made grid barrier, possible only in
// grids that fit on the GPU as a whole.
std::uint32_t yield(WarpFiber& f, LaneMask lanes) {
  Worker& w = *f.worker;
  Launch& launch = *w.launch;
  leave_round(w, f);
  bool give_way = some_may_run(f);
  f.polls = 0;
  ++w.idle_turns;
  // Fewer lanes than in the last iteration: the others have stopped waiting.
  const bool moved = lanes != f.spinning && (lanes & ~f.spinning) == 0;
  if (moved || give_way) w.idle_turns = 1;
  f.spinning = lanes;
  if (w.idle_turns == 1) {
    w.idle_rounds = 0;
    w.stalled_turns = 0;
    w.spins_only.store(false, std::memory_order_relaxed);
  }
  // If all warps take turns, spinning warps and a computing one look alike for a while.
  constexpr std::uint32_t kPatience = 2;
  const std::uint32_t round = launch.ordered ? (live_warps(w) + 1) * (launch.schedule.preempts() ? kPatience : 1)
                                             : w.live_blocks * launch.warps_per_block + 1;
  // A block of this worker's share begins at once, not after a full round: n blocks that meet at a barrier would poll
  // n^2 / 2 times. Blocks beyond the share begin only if nothing else helps.
  const bool has_share = w.live_blocks * std::uint64_t{launch.running_workers} >= launch.blocks;
  const bool turns_over = w.idle_turns % round == 0;
  if ((launch.fits_gpu || launch.cancellable) && !w.starting && (!has_share || turns_over) && activate_block(w)) {
    w.idle_turns = 0;
  } else if (launch.ordered && !w.starting && turns_over && activate_block(w)) {
    w.idle_turns = 0;
    warn_of_order(f);
  } else if (!w.starting && turns_over) {
    const bool stalled = is_stalled(w, launch);
    if (stalled) w.stalled_turns = round;
    const bool begins = stalled && may_begin_later(w) && activate_block(w);
    if (begins) w.idle_turns = 0;
    // A single worker also pauses after a while: it then waits for the host or another stream.
    constexpr std::uint64_t kRoundsAlone = 64;
    if (w.idle_rounds > kRoundsAlone) launch.waited_outside.store(true, std::memory_order_relaxed);
    end_if_alone(w);
    if (!begins && !launch.alone && (launch.running_workers > 1 || w.idle_rounds > kRoundsAlone))
      wait_for_others(w, f.context);
  }
  // In a stalled round each warp gives way. The end of the round alone could always meet the same one.
  if (w.stalled_turns > 0) {
    --w.stalled_turns;
    give_way = true;
  }
  f.state = WarpState::yielded;
  w.work_mixed = true;
  queue_ready(w, &f);
  suspend(w, f);
  return give_way;
}

// Cooperative groups read the address of the grid barrier from %envreg1 and %envreg2, and trap without one.
bool needs_cooperative_launch(const Launch& launch, std::uint32_t site) {
  const events::KernelFacts& facts = launch.kernel->code->facts();
  if (launch.config.cooperative || site >= facts.sites.size()) return false;
  const std::string& in = facts.sites[site].function;
  if (in.find("18cooperative_groups10grid_group") != std::string::npos) return true;  // not inlined
  for (const ptx::Function& f : launch.module->module().functions) {
    if (!f.has_body || f.name != in) continue;
    for (const ptx::Instruction& i : f.body)
      for (const ptx::Operand& o : i.operands)
        if (o.kind == ptx::OperandKind::sreg && o.sreg == ptx::SpecialRegister::envreg) return true;
  }
  return false;
}

}  // namespace

std::uint32_t barrier_reduction(const Barrier& b, std::uint32_t operation) {
  return operation == 0 ? b.popc : operation == 1 ? std::uint32_t{b.all} : std::uint32_t{b.any};
}

bool arrive_some(jit::WarpContext& c, ParkedPath& path, std::uint32_t threads, LaneMask predicate) {
  const Arrival a{path.site, path.barrier, threads, path.mask};
  constexpr std::uint32_t kNoReduction = 3;
  const bool last = arrive(c, a, path.operation == kNoReduction ? nullptr : &predicate);
  WarpFiber& f = fiber_of(c);
  Barrier& barrier = f.block->barriers[path.barrier];
  path.next = barrier.parked;
  barrier.parked = &path;
  if (last) release(*f.worker, *f.block, barrier);
  return last;
}

// Threads have left: this may complete a barrier that others wait at.
void release_if_complete(Worker& w, Block& b) {
  for (unsigned k = 0; k < b.barriers_in_use; ++k) {
    Barrier& barrier = b.barriers[k];
    if (barrier.arrived != 0 && barrier.arrived >= needed(*w.launch, b, barrier)) release(w, b, barrier);
  }
}

void end_parts(WarpFiber& f) {
  complete_parts(f, 0);
}

void count_exited(WarpFiber& f) {
  if (note_exited(f)) release_if_complete(*f.worker, *f.block);
}

std::span<const jit::CallSymbol> control_symbols() {
  static const jit::CallSymbol symbols[] = {
      {"wg_barrier", reinterpret_cast<void*>(&wg_barrier)},
      {"wg_barrier_reduce", reinterpret_cast<void*>(&wg_barrier_reduce)},
      {"wg_come_to_barrier", reinterpret_cast<void*>(&wg_come_to_barrier)},
      {"wg_come_to_barrier_reduce", reinterpret_cast<void*>(&wg_come_to_barrier_reduce)},
      {"wg_cluster_arrive", reinterpret_cast<void*>(&wg_cluster_arrive)},
      {"wg_cluster_wait", reinterpret_cast<void*>(&wg_cluster_wait)},
      {"wg_barrier_arrive", reinterpret_cast<void*>(&wg_barrier_arrive)},
      {"wg_yield", reinterpret_cast<void*>(&wg_yield)},
      {"wg_let_others_pass", reinterpret_cast<void*>(&wg_let_others_pass)},
      {"wg_meet", reinterpret_cast<void*>(&wg_meet)},
      {"wg_wait_at_barrier", reinterpret_cast<void*>(&wg_wait_at_barrier)},
      {"wg_wait_for_cluster", reinterpret_cast<void*>(&wg_wait_for_cluster)},
      {"wg_give_way", reinterpret_cast<void*>(&wg_give_way)},
      {"wg_next_path", reinterpret_cast<void*>(&wg_next_path)},
      {"wg_join_path", reinterpret_cast<void*>(&wg_join_path)},
      {"wg_warp_sync", reinterpret_cast<void*>(&wg_warp_sync)},
      {"wg_exit", reinterpret_cast<void*>(&wg_exit)},
      {"wg_absent_lanes", reinterpret_cast<void*>(&wg_absent_lanes)},
      {"wg_missing_members", reinterpret_cast<void*>(&wg_missing_members)},
      {"wg_bad_branch_index", reinterpret_cast<void*>(&wg_bad_branch_index)},
      {"wg_interrupt", reinterpret_cast<void*>(&wg_interrupt)},
      {"wg_trap", reinterpret_cast<void*>(&wg_trap)},
      {"wg_indirect_call_fault", reinterpret_cast<void*>(&wg_indirect_call_fault)},
      {"wg_stack_overflow", reinterpret_cast<void*>(&wg_stack_overflow)},
  };
  return symbols;
}

}  // namespace warpgrind::device

using namespace warpgrind;
using namespace warpgrind::device;

extern "C" {

void wg_barrier(void* context, std::uint32_t site, std::uint32_t id, std::uint32_t threads, std::uint32_t mask) {
  WarpFiber& f = fiber_of(warp(context));
  leave_round(*f.worker, f);
  if (!is_plain(f, id, threads, mask, f.worker->launch->plain_barriers))
    return wait_at_any(f.context, {site, id, threads, mask});
  if (come_plain(f, site, mask)) release(*f.worker, *f.block, f.block->barriers[0]);
  suspend_without_time(*f.worker, f);
}

void* wg_come_to_barrier(void* context, std::uint32_t site, std::uint32_t id, std::uint32_t threads,
                         std::uint32_t mask) {
  WarpFiber& f = fiber_of(warp(context));
  Worker& w = *f.worker;
  if (WarpFiber* const first = w.round) {
    if (is_plain(f, id, threads, mask, f.block->plain) && !f.context.successor && w.ended_in_round == 0 &&
        w.launch->interrupt.load(std::memory_order_acquire) == 0) {
      w.current = first;  // the last one of a round: all have arrived
      return &first->context;
    }
    write_down_round(w, f);
  }
  if (!is_plain(f, id, threads, mask, f.block->plain)) return end_region_at_any(f, site, id, threads, mask);
  return come_plain(f, site, mask) ? release_and_go_on(f) : next_in_place(w);
}

std::uint32_t wg_barrier_reduce(void* context, std::uint32_t site, std::uint32_t id, std::uint32_t threads,
                                std::uint32_t mask, std::uint32_t predicate, std::uint32_t operation) {
  jit::WarpContext& c = warp(context);
  WarpFiber& f = fiber_of(c);
  Arrival a{site, id, threads, mask};
  a.mask = all_if_apart(c, a);
  f.barrier_operation = operation;
  come(c, a, &predicate);
  suspend(*f.worker, f);
  return c.barrier_result;
}

void* wg_come_to_barrier_reduce(void* context, std::uint32_t site, std::uint32_t id, std::uint32_t threads,
                                std::uint32_t mask, std::uint32_t predicate, std::uint32_t operation) {
  jit::WarpContext& c = warp(context);
  WarpFiber& f = fiber_of(c);
  if (f.worker->launch->ordered)
    return wg_barrier_reduce(context, site, id, threads, mask, predicate, operation), context;
  f.barrier_operation = operation;
  come(c, {site, id, threads, mask}, &predicate);
  return nullptr;
}

void wg_barrier_arrive(void* context, std::uint32_t site, std::uint32_t id, std::uint32_t threads, std::uint32_t mask) {
  jit::WarpContext& c = warp(context);
  WarpFiber& f = fiber_of(c);
  if (arrive(c, {site, id, threads, mask, false}, nullptr)) release(*f.worker, *f.block, f.block->barriers[id]);
}

void wg_let_others_pass(void* context) {
  WarpFiber& f = fiber_of(warp(context));
  leave_round(*f.worker, f);
  if (f.worker->launch->ordered || !somebody_is_behind(f)) return;
  f.state = WarpState::yielded;
  queue_ready(*f.worker, &f);
  suspend(*f.worker, f);
}

std::uint32_t wg_yield(void* context, std::uint32_t mask) {
  WarpFiber& f = fiber_of(warp(context));
  const bool owed = std::exchange(f.owes_way, false);
  return yield(f, mask) | std::uint32_t{owed};
}

void wg_interrupt(void* context, std::uint32_t site, std::uint32_t) {
  WarpFiber& f = fiber_of(warp(context));
  Worker& w = *f.worker;
  Launch& launch = *w.launch;
  leave_round(w, f);
  if (launch.stop_reason.load() == 0) {
    if (launch.stop.load()) leave_launch(w);
    return take_turns_in_loop(f, site);
  }
  if (!w.listing) {
    w.listing = true;
    w.starting = nullptr;
  }
  list_first(w, f, site);
  bool more = false;
  {
    const std::lock_guard lock(launch.fault_mutex);
    launch.places.push_back(place_of(launch, f, site, "is at this place"));
    more = launch.places.size() < kPlacesListed;
  }
  f.state = WarpState::idle;  // it does not go on
  if (!more || !w.ready_first) finish_listing(w);
  suspend(w, f);
  leave_launch(w);
}

void wg_trap(void* context, std::uint32_t site, std::uint32_t mask) {
  jit::WarpContext& c = warp(context);
  const unsigned lane = mask ? static_cast<unsigned>(std::countr_zero(mask)) : 0;
  if (needs_cooperative_launch(launch_of(c), site))
    raise(c, site, lane, FaultKind::grid_barrier,
          "grid.sync() in a kernel that was not launched by cudaLaunchCooperativeKernel: the kernel stops itself "
          "(__trap)",
          "launch the kernel with cudaLaunchCooperativeKernel(), and with no more blocks than fit on the GPU at the "
          "same time");
  raise(c, site, lane, FaultKind::trap, "the kernel stopped itself (__trap)");
}

void wg_bad_branch_index(void* context, std::uint32_t site, std::uint32_t mask) {
  raise(warp(context), site, static_cast<unsigned>(std::countr_zero(mask)), FaultKind::trap,
        "brx.idx: the index is outside the list of targets", "check the index; on a GPU the behaviour is undefined");
}

void wg_stack_overflow(void* context, std::uint32_t site, std::uint64_t needed, std::uint32_t mask) {
  jit::WarpContext& c = warp(context);
  const FaultText text = stack_overflow_text("call", c.local_size, needed);
  raise(c, site, mask ? static_cast<unsigned>(std::countr_zero(mask)) : 0, text.kind, text.message, text.advice);
}

void wg_indirect_call_fault(void* context, std::uint32_t site, std::uint64_t address, std::uint32_t is_function) {
  raise(warp(context), site, 0, FaultKind::invalid_pc,
        is_function    ? std::string("call through a function pointer of another signature")
        : address == 0 ? std::string("call through a null function pointer")
                       : fmt::format("call through a pointer that is not a function of the module: {:#x}", address),
        "take the address of a __device__ function in device code, not on the host");
}

}  // extern "C"
