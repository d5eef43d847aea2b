#include "device/execution/rounds.h"

#include <bit>
#include <utility>

#include "device/execution/scheduler.h"

namespace warpgrind::device {

namespace {

WarpFiber* successor(const WarpFiber& f) {
  return f.context.successor ? &fiber_of(*f.context.successor) : nullptr;
}

}  // namespace

WarpFiber* begin_round(Worker& w, Block& b) {
  Barrier& all = b.barriers[0];
  if (w.starting || w.ready_first || w.live_blocks != 1 || b.warps == 1 || b.cluster || all.parked ||
      w.launch->interrupt.load(std::memory_order_acquire) != 0)
    return nullptr;
  for (const WarpFiber* f = all.first; f; f = f->next)
    if (f->on_stack) return nullptr;
  w.round = all.first;
  all = {};
  w.idle_turns = 0;
  for (WarpFiber* f = w.round; f; f = f->next) {
    f->state = WarpState::running;
    f->context.successor = f->next ? &f->next->context : nullptr;
  }
  return w.round;
}

void write_down_round(Worker& w, WarpFiber& current) {
  Block& b = *current.block;
  Barrier& all = b.barriers[0];
  bool has_come = true;
  for (WarpFiber* f = std::exchange(w.round, nullptr); f;) {
    WarpFiber* const next = successor(*f);
    f->context.successor = nullptr;
    if (f == &current) {
      has_come = false;
    } else if (has_come) {
      all.arrived += static_cast<std::uint32_t>(std::popcount(f->context.initial_mask));
      queue_at(*f, all, f->context.barrier_site, 0);
    } else {
      f->state = WarpState::barrier;
      queue_ready(w, f);
    }
    f = next;
  }
  current.next = nullptr;
  w.idle_turns = 0;
}

void forget_round(Worker& w) {
  for (WarpFiber* f = std::exchange(w.round, nullptr); f;) {
    WarpFiber* const next = successor(*f);
    f->context.successor = nullptr;
    f = next;
  }
}

}  // namespace warpgrind::device
