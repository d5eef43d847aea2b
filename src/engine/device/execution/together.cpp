// Warps that go on together on a GPU. Here they run one after the other, so one of them could overtake the rest.
#include <algorithm>

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
    if (other->block == f.block && other->state == WarpState::yielded) return true;
  return false;
}

}  // namespace

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
