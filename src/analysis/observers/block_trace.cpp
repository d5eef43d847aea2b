// Recording of the traced block's accesses, and their export to the profile.
#include "observers/block_trace.h"

#include <algorithm>
#include <bit>

namespace warpgrind::observers {

namespace {

results::TraceEventProfile event_of(results::Profile& profile, const TraceEvent& e, std::uint32_t site) {
  results::TraceEventProfile out;
  out.site = site;
  out.warp = e.warp;
  out.phase = e.phase;
  out.mask = e.mask;
  if (e.allocation) out.allocation = allocation_id(profile, *e.allocation);
  const std::uint64_t origin = e.allocation ? e.allocation->first : 0;
  for (unsigned l = 0; l < kWarpSize; ++l)
    if ((e.mask >> l & 1) != 0) out.addresses[l] = static_cast<std::int64_t>(e.addresses[l] - origin);
  return out;
}

}  // namespace

void BlockTrace::on_launch_begin(const events::Launch& launch) {
  const bool inside = block_.x < launch.grid.x && block_.y < launch.grid.y && block_.z < launch.grid.z;
  if (!inside || traces_.contains(launch.facts->name)) return;
  Trace& trace = traces_[launch.facts->name];
  trace.block = block_;
  constexpr std::uint64_t kLanes = kWarpSize;
  const std::lock_guard lock(mutex_);
  traced_[launch.id] = {&trace, std::vector<std::uint32_t>((launch.block.count() + kLanes - 1) / kLanes)};
}

void BlockTrace::on_launch_end(const events::Launch& launch, const events::LaunchCounts&) {
  const std::lock_guard lock(mutex_);
  traced_.erase(launch.id);
}

BlockTrace::Running* BlockTrace::running(std::uint64_t launch, const Dim3& block) {
  if (!(block == block_)) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto it = traced_.find(launch);
  return it == traced_.end() ? nullptr : &it->second;
}

void BlockTrace::on_access(const events::Access& a, unsigned) {
  if (a.path == events::AccessPath::call) return;
  Running* const in = running(a.launch->id, a.block);
  if (in == nullptr) return;
  Trace& trace = *in->trace;
  if (trace.events.size() >= kMostEvents) {
    ++trace.left_out;
    return;
  }
  const events::Site& site = a.launch->facts->sites[a.site];
  TraceEvent& e = trace.events.emplace_back();
  e.function = site.function;
  e.ptx_line = site.ptx_line;
  e.warp = a.warp;
  e.phase = a.warp < in->phases.size() ? in->phases[a.warp] : 0;
  e.mask = a.mask;
  e.space = a.space;
  const bool texels = a.space == StateSpace::texture;
  if (texels || a.space == StateSpace::global || a.space == StateSpace::constant)
    e.allocation = watched_.find_allocation(a.addresses[std::countr_zero(a.mask)]);
  // Arrays have no address that a program can know, so texels count from the lowest one.
  std::uint64_t origin = texels && !e.allocation ? ~std::uint64_t{0} : 0;
  for (LaneMask m = a.mask; origin != 0 && m != 0; m &= m - 1)
    origin = std::min(origin, a.addresses[std::countr_zero(m)]);
  for (LaneMask m = a.mask; m != 0; m &= m - 1)
    e.addresses[std::countr_zero(m)] = a.addresses[std::countr_zero(m)] - origin;
}

void BlockTrace::on_barrier(const events::Barrier& b, unsigned) {
  Running* const in = running(b.launch->id, b.block);
  if (in != nullptr && b.warp < in->phases.size()) ++in->phases[b.warp];
}

void BlockTrace::contribute(results::Profile& profile) const {
  // Limit for the whole report, about 6 MB; all kernels share it.
  constexpr std::size_t kEvents = 32768, kLeast = 128;
  const std::size_t most = std::max(kLeast, kEvents / std::max<std::size_t>(1, profile.kernels.size()));
  for (results::KernelProfile& k : profile.kernels) {
    const auto it = traces_.find(k.mangled_name);
    if (k.device != watched_.device || it == traces_.end()) continue;
    std::map<std::pair<std::string, std::uint32_t>, std::uint32_t> sites;
    for (const results::SiteProfile& s : k.sites)
      if (s.kind != "matrix") sites[{s.function, s.ptx_line}] = s.id;  // operands of wgmma are not traced
    results::BlockTraceProfile& out = k.block_trace.emplace();
    out.block = it->second.block;
    out.left_out = it->second.left_out;
    for (const TraceEvent& e : it->second.events) {
      const auto site = sites.find({e.function, e.ptx_line});
      if (out.events.size() < most && site != sites.end())
        out.events.push_back(event_of(profile, e, site->second));
      else
        ++out.left_out;
    }
  }
}

std::unique_ptr<ProfileObserver> make_block_trace(const Watched& watched) {
  return std::make_unique<BlockTrace>(watched);
}

}  // namespace warpgrind::observers
