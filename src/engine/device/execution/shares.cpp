#include "device/execution/shares.h"

#include <algorithm>

namespace warpgrind::device {

// What shares keep: the earliest unfinished block runs, or its worker takes it next. A worker takes a range in
// ascending order and another range only when the first is empty, so what it has taken of the same range before is
// finished, too. A block that waits for an earlier one, by a loop without a sign of it, therefore ends (decoupled
// look-back, tickets).
//
// What shares do not keep, and whose launches have the one cursor:
//   - loops that wait (yield() in barrier.cpp): the worker of the second share would poll until the first one is done.
//     That takes twice the CPU time, and each poll counts as an access of the kernel. The same holds for blocks that
//     meet at a barrier of their own.
//   - clusters (activate_cluster()): their blocks are neighbours in one chunk
//   - cancelled launches (next_cancellable()): workers come to the lines of a CancellableGrid in ascending order
//   - orders and debuggers (starts_next()), chosen blocks (some_blocks.h): they number the blocks that run
//   - clocks: blocks of an SM follow each other in its time, and two of them would begin at once (begin_time())
//   - observers: checkers look at neighbours at about the same time, and report the first block that they see
// has_warp_to_start() and take_turn_of_period() need only some block that has not begun.
bool may_have_shares(const Launch& launch) {
  return launch.workers > 1 && launch.blocks <= BlockShare::kMostBlocks && launch.cluster_size == 1 &&
         !launch.cancellable && !launch.config.cooperative && !launch.ordered && !launch.stops && !launch.keeps_time &&
         launch.observers->empty() && !launch.kernel->may_wait_for_blocks();
}

void deal_shares(Launch& launch) {
  launch.shares = true;
  for (unsigned i = 0; i < launch.workers; ++i)
    (*launch.all_workers)[i]->share.set(BlockShare::first_share(launch.blocks, launch.workers, i));
}

namespace {

// Steals from the largest share.
BlockRange steal_for(const Worker& w) {
  for (;;) {
    Worker* from = nullptr;
    std::uint64_t most = 0;
    for (unsigned i = 0; i < w.launch->running_workers; ++i) {
      Worker& other = *(*w.launch->all_workers)[i];
      const std::uint64_t left = other.share.left();
      if (left > most) most = left, from = &other;
    }
    if (!from) return {};
    if (const BlockRange stolen = from->share.steal(); !stolen.empty()) return stolen;
  }
}

}  // namespace

BlockRange take_from_shares(Worker& w) {
  const Launch& launch = *w.launch;
  for (;;) {
    BlockRange next = w.share.take(launch.chunk);
    if (next.empty()) {
      const BlockRange stolen = steal_for(w);
      if (stolen.empty()) return {};
      next = {stolen.begin, std::min(stolen.begin + launch.chunk, stolen.end)};
      w.share.set({next.end, stolen.end});
    }
    if (next.begin < launch.faulty_block.load(std::memory_order_relaxed)) return next;
    w.share.set({});  // the rest of it comes later still
  }
}

}  // namespace warpgrind::device
