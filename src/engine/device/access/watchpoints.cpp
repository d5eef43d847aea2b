// Watched memory: windows around it, and the accesses to it.
#include "device/access/watchpoints.h"

#include <algorithm>
#include <bit>

#include "device/access/access.h"
#include "device/access/count.h"
#include "device/stop_handler.h"
#include "device/turns.h"

namespace warpgrind::device {

namespace {

StateSpace space_of(StateSpace space) {
  return space == StateSpace::shared || space == StateSpace::local ? space : StateSpace::global;
}

bool concerns(const Watchpoint& w, const Access& a, unsigned lane) {
  const WarpFiber& f = fiber_of(*a.context);
  switch (w.space) {
    case StateSpace::shared:
      return f.block_linear == w.block;
    case StateSpace::local:
      return f.block_linear == w.block && a.context->warp == w.warp && lane == w.lane;
    default:
      return true;
  }
}

}  // namespace

bool Watchpoints::cut(StateSpace space, std::uint64_t first, std::uint64_t end, std::uint64_t* low,
                      std::uint64_t* high) const {
  for (const Watchpoint& w : all) {
    if (w.space != space_of(space) || w.high <= *low || w.low >= *high) continue;
    if (end <= w.low)
      *high = std::min(*high, w.low);
    else if (first >= w.high)
      *low = std::max(*low, w.high);
    else
      return false;
  }
  return true;
}

void set_watchpoints(Launch& launch, const Watchpoints* watch) {
  launch.watch = watch && !watch->all.empty() ? watch : nullptr;
  for (unsigned i = 0; i < launch.workers; ++i) close_sites(*(*launch.all_workers)[i]);
}

void show_watched(const Access& a) {
  const Launch& launch = launch_of(*a.context);
  leave_turns(*a.context);  // the handler may change the stop flags of this warp alone
  for (const Watchpoint& w : launch.watch->all) {
    if (w.space != space_of(a.form.space) || !(a.writes() ? w.writes : w.reads)) continue;
    for (LaneMask m = a.mask; m != 0; m &= m - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(m));
      const std::uint64_t first = a.addresses[lane], end = first + a.bytes_of(lane);
      if (end <= w.low || first >= w.high || !concerns(w, a, lane)) continue;
      launch.stops->touched(*a.context, {w.number, a.site, lane, a.writes(), a.mask});
    }
  }
}

}  // namespace warpgrind::device
