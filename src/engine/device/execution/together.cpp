// Warps that go on together on a GPU. Here they run one after the other, so one of them could overtake the rest.
#include <algorithm>

#include "device/calls/mbarriers.h"
#include "device/execution/scheduler.h"
#include "device/symbols.h"
#include "jit/calls/warpgroup_matrix.h"

namespace warpgrind::device {

namespace {

void let_others_run(Worker& w, WarpFiber& f) {
  f.state = WarpState::yielded;
  queue_ready(w, &f);
  suspend(w, f);
}

// Whether a warp of the warpgroup has issued fewer products than this one and can go on.
bool warpgroup_is_behind(const WarpFiber& f) {
  const Block& b = *f.block;
  const unsigned group = f.context.warp / jit::kWarpgroupWarps;
  if (b.started < std::min(b.warps, (group + 1) * jit::kWarpgroupWarps)) return true;
  for (const WarpFiber* other = f.worker->ready_first; other; other = other->next)
    if (other->block == f.block && other->context.warp / jit::kWarpgroupWarps == group && other->products < f.products)
      return true;
  return false;
}

// Whether a warp of the block takes turns: it may wait for an mbarrier.
bool somebody_takes_turns(const WarpFiber& f) {
  for (const WarpFiber* other = f.worker->ready_first; other; other = other->next)
    if (other->block == f.block && (other->state == WarpState::yielded || other->state == WarpState::due)) return true;
  return false;
}

bool in_same_cluster(const Block& a, const Block& b) {
  return &a == &b || (a.cluster && a.cluster == b.cluster);
}

// Marks the queued warps of the cluster. The mark is gone when they have run.
void mark_queued_warps(const WarpFiber& f) {
  for (WarpFiber* other = f.worker->ready_first; other; other = other->next)
    if (in_same_cluster(*other->block, *f.block)) other->state = WarpState::due;
}

// Whether a warp of the cluster has not begun, has not run since the mark, or has not seen the end of a phase of an
// mbarrier for which it waits.
bool somebody_is_due(const WarpFiber& f) {
  const Block* const starting = f.worker->starting;
  if (starting && in_same_cluster(*starting, *f.block)) return true;
  for (const WarpFiber* other = f.worker->ready_first; other; other = other->next)
    if (in_same_cluster(*other->block, *f.block) && (other->state == WarpState::due || may_end_its_wait(*other)))
      return true;
  return false;
}

}  // namespace

// On a GPU a copy or a product takes hundreds of cycles, and meanwhile every other warp goes on until it waits. Here
// it is done at once. A warp that issued two of them could complete two phases of an mbarrier before the others looked:
// the parity that they wait for would have come and gone (CuTe's tutorial 02_mma_tma_sm100, where one warp copies and
// multiplies and all wait).
void let_time_pass(WarpFiber& f) {
  // Each turn lets all queued warps run, or in another order one of them. A warp that has looked at an mbarrier for a
  // hint may do other work for a long time, so the number of turns has a limit.
  static constexpr unsigned kTurns = 8;
  const Worker& w = *f.worker;
  leave_round(*f.worker, f);
  mark_queued_warps(f);
  const unsigned most = kTurns * (w.launch->ordered ? w.live_blocks * w.launch->warps_per_block : 1);
  for (unsigned turn = 0; turn < most && somebody_is_due(f); ++turn) let_others_run(*f.worker, f);
}

void let_waiting_warps_look(WarpFiber& f) {
  static constexpr unsigned kTurns = 4;  // a loop around a wait may take turns without looking
  if (f.worker->launch->ordered) return;
  leave_round(*f.worker, f);
  for (unsigned turn = 0; turn < kTurns && somebody_takes_turns(f); ++turn) let_others_run(*f.worker, f);
}

}  // namespace warpgrind::device

using namespace warpgrind::device;

extern "C" {

// The four warps of a warpgroup multiply together, and their waits end together. One that is ahead could overwrite
// matrices before the others have read them. A program whose warps issue different numbers of products is wrong; after
// some turns a warp goes on without the others.
static void wg_warpgroup_wait(void* context) {
  static constexpr unsigned kMostTurns = 256;
  WarpFiber& f = fiber_of(warp(context));
  if (f.products == 0 || f.worker->launch->ordered) return;
  leave_round(*f.worker, f);
  for (unsigned turn = 0; turn < kMostTurns && warpgroup_is_behind(f); ++turn) let_others_run(*f.worker, f);
}

}  // extern "C"

namespace warpgrind::device {

std::span<const jit::CallSymbol> together_symbols() {
  static const jit::CallSymbol symbols[] = {{"wg_warpgroup_wait", reinterpret_cast<void*>(&wg_warpgroup_wait)}};
  return symbols;
}

}  // namespace warpgrind::device
