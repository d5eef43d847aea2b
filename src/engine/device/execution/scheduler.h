// Scheduler of a worker: the choice of the next warp. Inline, because most of a barrier consists of it.
#pragma once

#include <algorithm>

#include "device/execution/rounds.h"
#include "device/state.h"

namespace warpgrind::device {

void suspend_in_order(Worker& worker, WarpFiber& self);  // order.h

// execution.cpp
bool activate_block(Worker& worker);              // activates a block and its whole cluster; false: none left
void retire_block(Worker& worker, Block& block);  // call when its warps have ended
[[noreturn]] void give_up(Worker& worker, const char* message, const char* advice);  // the host is out of resources
void carrier_loop(void* carrier);                                                    // main function of every carrier
Carrier& take_carrier(Worker& worker);                                               // idle or new
[[noreturn]] void report_deadlock(Worker& worker);                                   // no warp of the worker can go on
void list_first(Worker& worker, const WarpFiber& fiber,
                std::uint32_t site);               // timeout or Ctrl-C: records the first warp found
[[noreturn]] void finish_listing(Worker& worker);  // timeout or Ctrl-C: every warp has reported its position
void stopped(Worker& worker);                      // Launch::interrupt is set; may not return

// barrier.cpp
void release_if_complete(Worker& worker, Block& block);  // call after threads have left
void count_exited(WarpFiber& fiber);                     // call when lanes may have left the kernel
void end_parts(WarpFiber& fiber);                        // all lanes left, some after an arrival apart

// cluster.cpp
void enter_cluster(Worker& worker, Block& block, Cluster*& cluster);  // the first block creates the cluster
void leave_cluster(Worker& worker, Block& block);
// Call after threads of a block of a cluster have left the kernel. lanes: all lanes of the warp that have left.
void cluster_exited(WarpFiber& fiber, std::uint32_t threads, LaneMask lanes);

inline void queue_ready(Worker& w, WarpFiber* f) {
  f->next = nullptr;
  (w.ready_last ? w.ready_last->next : w.ready_first) = f;
  w.ready_last = f;
}

// Queues a warp at a barrier. The caller counts the arrival.
inline void queue_at(WarpFiber& f, Barrier& barrier, std::uint32_t site, std::uint32_t id) {
  f.state = WarpState::barrier;
  f.wait_site = site;
  f.wait_barrier = id;
  f.next = nullptr;
  (barrier.last ? barrier.last->next : barrier.first) = &f;
  barrier.last = &f;
}

inline WarpFiber* next_ready(Worker& w) {
  WarpFiber* f = w.ready_first;
  if (!f) return nullptr;
  w.ready_first = f->next;
  if (!w.ready_first) w.ready_last = nullptr;
  return f;
}

inline void begin_to_run(Worker& w, WarpFiber& f) {
  w.current = &f;
  f.state = WarpState::running;
}

// Switches to a warp that waits on its stack.
inline void go_to(Worker& w, Continuation& from, WarpFiber& to) {
  begin_to_run(w, to);
  to.on_stack = false;
  switch_to(from, to.continuation);
}

// Switches to the worker's loop, on another stack.
inline void go_to_loop(Worker& w, Continuation& from) {
  Carrier& to = take_carrier(w);
  if (to.fresh) [[unlikely]] {
    to.fresh = false;
    prepare(to.continuation, to.stack, &carrier_loop, &to);
  }
  switch_to(from, to.continuation);
}

// Switches from a warp on its stack to a ready one on its stack, possibly the same.
inline void go_on_stack(Worker& w, WarpFiber& self, WarpFiber& ready) {
  if (&ready != &self) return go_to(w, self.continuation, ready);
  self.on_stack = false;
  self.state = WarpState::running;
}

// Virtual time at a wait (kernels that read a clock): the events that a warp waited for lie in its past.
inline void give_time(WarpFiber& f) {
  if (f.worker->launch->keeps_time) [[unlikely]]
    f.block->cycles = std::max(f.block->cycles, f.context.cycles);
}
inline void take_time(WarpFiber& f) {
  if (f.worker->launch->keeps_time) [[unlikely]]
    f.context.cycles = std::max(f.context.cycles, f.block->cycles);
}

// Suspends the current warp inside a region (its state gives the reason); other warps run. For launches without a
// clock.
inline void suspend_without_time(Worker& w, WarpFiber& self) {
  leave_round(w, self);
  if (w.launch->interrupt.load(std::memory_order_acquire) != 0) [[unlikely]]
    stopped(w);
  if (w.launch->ordered) [[unlikely]]
    return suspend_in_order(w, self);
  self.on_stack = true;
  if (!w.starting && !w.ready_first) [[unlikely]]
    report_deadlock(w);
  if (w.starting || !w.ready_first->on_stack) return go_to_loop(w, self.continuation);
  go_on_stack(w, self, *next_ready(w));
}

inline void suspend(Worker& w, WarpFiber& self) {
  give_time(self);
  suspend_without_time(w, self);
  take_time(self);
}

}  // namespace warpgrind::device
