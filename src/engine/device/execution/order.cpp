// Orders of blocks and warps: reverse, interleaved and random, with their pseudo-random numbers.
#include "device/execution/order.h"

#include <bit>

#include "device/execution/scheduler.h"

namespace warpgrind::device {

namespace {

using Order = Schedule::Order;

// SplitMix64 (Steele, Lea, Flood 2014): any 64 bits are a good seed.
std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}
std::uint64_t next_random(Launch& launch) {
  return mixed(launch.random += 0x9e3779b97f4a7c15);
}

// Permutation of 0 ... n-1 without a table (grids have up to 2^31 blocks): four rounds of a Feistel network over an
// even number of bits, repeated until the result is below n.
std::uint64_t permuted(std::uint64_t i, std::uint64_t n, std::uint64_t key) {
  if (n <= 1) return 0;
  const unsigned half = (static_cast<unsigned>(std::bit_width(n - 1)) + 1) / 2;
  const std::uint64_t low = (std::uint64_t{1} << half) - 1;
  do {
    std::uint64_t left = i >> half, right = i & low;
    for (unsigned round = 0; round < 4; ++round) {
      const std::uint64_t next = (left ^ mixed(key + right * 4 + round)) & low;
      left = right;
      right = next;
    }
    i = left << half | right;
  } while (i >= n);
  return i;
}

// Limit of concurrent warps. Each fiber has a stack and local memory, so fewer run than fit on the GPU. Blocks that
// others wait for begin regardless of this limit.
constexpr std::uint32_t kWarpsAtOnce = 256, kBlocksAtLeast = 2;
bool has_room(const Worker& w) {
  return w.live_blocks < kBlocksAtLeast || w.live_blocks * w.launch->warps_per_block < kWarpsAtOnce;
}

// A period of turns (watchdog.h). A worker begins at most as many blocks in it as it already runs.
void take_turn_of_period(WarpFiber& f, std::uint32_t period) {
  Worker& w = *f.worker;
  if (w.turns_period != period) {
    w.turns_period = period;
    w.may_begin = w.live_blocks;
  }
  w.idle_rounds = 0;  // this warp may compute
  if ((w.launch->fits_gpu || w.launch->cancellable) && !w.starting && w.may_begin > 0 && activate_block(w))
    --w.may_begin;
  if (!w.starting && !w.ready_first) return;
  f.state = WarpState::yielded;
  w.work_mixed = true;
  queue_ready(w, &f);
  suspend(w, f);
}

}  // namespace

std::uint64_t first_random(const Schedule& schedule) {
  return mixed(schedule.seed);
}

std::uint64_t block_in_order(const Launch& launch, std::uint64_t nth) {
  const std::uint64_t size = launch.cluster_size, clusters = launch.blocks / size;
  std::uint64_t which = nth / size;
  if (launch.schedule.order == Order::reverse) which = clusters - 1 - which;
  if (launch.schedule.order == Order::random) which = permuted(which, clusters, launch.schedule.seed);
  return which * size + nth % size;
}

std::uint32_t warp_in_order(const Launch& launch, const Block& block, std::uint32_t nth) {
  if (launch.schedule.order == Order::reverse) return block.warps - 1 - nth;
  if (launch.schedule.order == Order::random)
    return static_cast<std::uint32_t>(permuted(nth, block.warps, mixed(launch.schedule.seed ^ ~block.linear)));
  return nth;
}

bool starts_next(Worker& w) {
  if (w.listing) return false;
  if (!w.ready_first) return w.starting || (w.live_blocks == 0 && activate_block(w));
  if (!w.launch->schedule.preempts()) return w.starting != nullptr;
  if (w.launch->schedule.order == Order::random && next_random(*w.launch) % 2 != 0) return false;
  return w.starting || (has_room(w) && activate_block(w));
}

WarpFiber* next_in_order(Worker& w) {
  if (w.launch->schedule.order != Order::random || w.ready_first == w.ready_last) return next_ready(w);
  std::uint64_t ready = 0;
  for (const WarpFiber* f = w.ready_first; f; f = f->next) ++ready;
  WarpFiber* before = nullptr;
  WarpFiber* chosen = w.ready_first;
  for (std::uint64_t k = next_random(*w.launch) % ready; k != 0; --k) {
    before = chosen;
    chosen = chosen->next;
  }
  (before ? before->next : w.ready_first) = chosen->next;
  if (w.ready_last == chosen) w.ready_last = before;
  return chosen;
}

void suspend_in_order(Worker& w, WarpFiber& self) {
  self.on_stack = true;
  if (starts_next(w)) return go_to_loop(w, self.continuation);
  WarpFiber* const ready = next_in_order(w);
  if (!ready) report_deadlock(w);
  go_on_stack(w, self, *ready);
}

std::uint32_t live_warps(const Worker& w) {
  std::uint32_t live = 0;
  for (const Block* b = w.live; b; b = b->next) live += b->started - b->ended;
  return live;
}

void take_turns(WarpFiber& f) {
  Worker& w = *f.worker;
  Launch& launch = *w.launch;
  if (!launch.schedule.preempts()) return;
  constexpr std::uint64_t kOnceIn = 4;
  if (launch.schedule.order == Order::random && next_random(launch) % kOnceIn != 0) return;
  f.state = WarpState::yielded;
  queue_ready(w, &f);
  suspend(w, f);
}

void take_turns_in_loop(WarpFiber& f, std::uint32_t site) {
  f.polled_site = site;
  if (const std::uint32_t period = f.worker->launch->turns_period.load(std::memory_order_relaxed); period != 0)
    return take_turn_of_period(f, period);
  // A waiting loop calls yield() every few iterations. A loop that does not is computing, and others may wait for it.
  constexpr std::uint32_t kTurnsOfOneThatWaits = 16;
  if (++f.polls > kTurnsOfOneThatWaits) f.worker->idle_rounds = 0;
  take_turns(f);
}

void end_if_alone(Worker& w) {
  constexpr std::uint64_t kRoundsInVain = 256;
  Launch& launch = *w.launch;
  if (!launch.alone || w.idle_rounds < kRoundsInVain) return;
  launch.stop_reason = static_cast<std::uint32_t>(FaultKind::timeout) + 1;
  launch.interrupt.store(kInterruptStop, std::memory_order_release);
}

}  // namespace warpgrind::device
