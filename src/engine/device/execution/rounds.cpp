// Rounds of warps: their beginning, their end, and the return to counted lists.
#include "device/execution/rounds.h"

#include <bit>
#include <utility>

#include "device/execution/scheduler.h"
#include "device/execution/warps.h"
#include "device/turns.h"

namespace warpgrind::device {

namespace {

WarpFiber* successor(const WarpFiber& f) {
  return f.context.successor ? &fiber_of(*f.context.successor) : nullptr;
}

WarpFiber* unlink_successor(WarpFiber& f) {
  WarpFiber* const next = successor(f);
  f.context.successor = nullptr;
  return next;
}

// Reuses the warps of the previous block: in one launch each keeps its number and its threads.
void begin_again(WarpFiber& first, const Block& b) {
  for (WarpFiber* f = &first; f; f = successor(*f)) {
    place_in_grid(*f, b);
    begin_at_start(*f, b);
  }
}

WarpFiber& begin_anew(Worker& w, Block& b) {
  WarpFiber& first = take_fiber(w);
  WarpFiber* last = &first;
  for (;;) {
    start_warp(*last, w, b);
    last->state = WarpState::running;
    if (b.started == b.warps) return first;
    WarpFiber& next = take_fiber(w);
    last->context.successor = &next.context;
    last = &next;
  }
}

}  // namespace

Turns turns_of(const Launch& launch) {
  if (launch.ordered || launch.keeps_time || launch.fill || launch.cluster_size != 1) return Turns::none;
  // Warps in place begin without start_warp(), so that undefined bits of local memory cannot be marked.
  if (launch.shadow && (!launch.stops || unwritten_local_bytes(launch) != 0)) return Turns::none;
  if (launch.kernel->code->has_regions) return launch.plain_barriers ? Turns::round : Turns::none;
  return launch.kernel->shape == jit::LaneShape::general ? Turns::none : Turns::in_place;
}

WarpFiber* begin_block_in_turn(Worker& w, Block& b) {
  if (w.launch->turns != Turns::round || b.started != 0 || w.live_blocks != 1 || w.ready_first) return nullptr;
  if (w.team && w.team->block == &b) {
    begin_again(*w.team, b);
    b.started = b.warps;
    w.starting = nullptr;
    w.round = std::exchange(w.team, nullptr);
  } else {
    release_team(w);
    w.round = &begin_anew(w, b);
  }
  b.barriers_in_use = 1;
  w.in_order = true;
  w.ended_in_round = 0;
  return w.round;
}

WarpFiber* begin_round(Worker& w, Block& b) {
  Barrier& all = b.barriers[0];
  if (w.starting || w.ready_first || w.live_blocks != 1 || b.warps == 1 || b.cluster || all.parked ||
      w.launch->interrupt.load(std::memory_order_acquire) != 0)
    return nullptr;
  for (const WarpFiber* f = all.first; f; f = f->next)
    if (f->on_stack) return nullptr;
  w.round = all.first;
  w.in_order = false;
  w.ended_in_round = 0;
  all = {};
  w.idle_turns = 0;
  for (WarpFiber* f = w.round; f; f = f->next) {
    f->state = WarpState::running;
    f->context.successor = f->next ? &f->next->context : nullptr;
  }
  return w.round;
}

void begin_in_place(Worker& w, Block& b, WarpFiber& first) {
  if (w.launch->turns != Turns::in_place || b.started == b.warps) return;
  if (b.log || w.launch->work) return;  // each warp has its own part of the log, and its own work
  first.context.next_shape = &w.launch->shapes[b.started];
  first.context.last_shape = w.launch->shapes.data() + b.warps;
  w.in_place = &first;
}

bool end_block_in_turn(Worker& w, WarpFiber& last) {
  if (!w.round || w.ended_in_round + 1 != last.block->warps) {
    leave_round(w, last);
    return false;
  }
  Block& b = *last.block;
  b.ended = b.warps;
  w.warps_ended += b.warps;
  w.threads_ended += w.launch->threads_per_block;
  w.idle_turns = 0;
  w.team = std::exchange(w.round, nullptr);
  if (!w.in_order) release_team(w);
  retire_block(w, b);
  return true;
}

void write_down_round(Worker& w, WarpFiber& current) {
  Block& b = *current.block;
  Barrier& all = b.barriers[0];
  bool has_run = true;
  for (WarpFiber* f = std::exchange(w.round, nullptr); f;) {
    WarpFiber* const next = unlink_successor(*f);
    if (f == &current) {
      has_run = false;
    } else if (!has_run && f->context.region == 0) {  // neither this warp nor those after it have begun
      put_idle(w, *f);
      --b.started;
      w.starting = &b;
    } else if (!has_run) {
      f->state = WarpState::barrier;
      queue_ready(w, f);
    } else if (f->context.region == jit::kEndedRegion) {
      end_warp(*f, w);
      put_idle(w, *f);
    } else {
      all.arrived += static_cast<std::uint32_t>(std::popcount(f->context.initial_mask));
      queue_at(*f, all, f->context.barrier_site, 0);
    }
    f = next;
  }
  current.next = nullptr;
  w.idle_turns = 0;
}

void write_down_in_place(Worker& w) {
  WarpFiber& f = *std::exchange(w.in_place, nullptr);
  Block& b = *f.block;
  f.context.next_shape = f.context.last_shape = nullptr;
  const std::uint32_t warps = f.context.warp + 1 - b.started,
                      threads = warps * kWarpSize;  // only the last one has fewer
  if (warps == 0) return;
  b.started += warps;
  if (b.started == b.warps) w.starting = nullptr;
  b.ended += warps;
  b.exited += threads;
  w.warps_ended += warps;
  w.threads_ended += threads;
  w.idle_turns = 0;
  if (b.barriers_in_use != 0) release_if_complete(w, b);
}

void leave_turns(jit::WarpContext& warp) {
  leave_round(worker_of(warp), fiber_of(warp));
}

void release_team(Worker& w) {
  for (WarpFiber* f = std::exchange(w.team, nullptr); f;) {
    WarpFiber* const next = unlink_successor(*f);
    put_idle(w, *f);
    f = next;
  }
}

void forget_round(Worker& w) {
  w.round = w.in_place = w.team = nullptr;
}

}  // namespace warpgrind::device
