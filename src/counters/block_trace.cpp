#include "counters/block_trace.h"

#include <bit>

namespace warpgrind::counters {

void BlockTrace::on_launch_begin(const events::Launch& launch) {
  current_ = nullptr;
  phases_.clear();
  const bool inside = block_.x < launch.grid.x && block_.y < launch.grid.y && block_.z < launch.grid.z;
  if (!inside || traces_.contains(launch.facts->name)) return;
  current_ = &traces_[launch.facts->name];
  current_->block = block_;
  constexpr std::uint64_t kLanes = kWarpSize;
  phases_.resize((launch.block.count() + kLanes - 1) / kLanes);
}

void BlockTrace::on_access(const events::Access& a, unsigned) {
  if (current_ == nullptr || !(a.block == block_)) return;
  if (current_->events.size() >= kMostEvents) {
    ++current_->left_out;
    return;
  }
  const events::Site& site = a.launch->facts->sites[a.site];
  TraceEvent& e = current_->events.emplace_back();
  e.function = site.function;
  e.ptx_line = site.ptx_line;
  e.warp = a.warp;
  e.phase = a.warp < phases_.size() ? phases_[a.warp] : 0;
  e.mask = a.mask;
  e.space = a.space;
  if (a.space == StateSpace::global || a.space == StateSpace::constant)
    e.allocation = find_allocation_(a.addresses[std::countr_zero(a.mask)]);
  for (LaneMask m = a.mask; m != 0; m &= m - 1) e.addresses[std::countr_zero(m)] = a.addresses[std::countr_zero(m)];
}

void BlockTrace::on_barrier(const events::Launch&, const Dim3& block, std::uint32_t warp, std::uint32_t, unsigned) {
  if (current_ != nullptr && block == block_ && warp < phases_.size()) ++phases_[warp];
}

}  // namespace warpgrind::counters
