// Watched sites: which sites may touch memory that the launch writes, and publishing of their affine accesses.
#include "device/access/watched.h"

#include <algorithm>

namespace warpgrind::device {

bool may_write(const events::Site& s) {
  switch (s.kind) {
    case SiteKind::store:
    case SiteKind::atomic:
    case SiteKind::reduction:
    case SiteKind::surface:
    case SiteKind::bulk_copy:
    case SiteKind::call:
      return true;
    default:
      return false;
  }
}

bool never_global(const events::Site& s) {
  if (s.space == StateSpace::shared || s.space == StateSpace::local || s.space == StateSpace::param) return true;
  return !s.origins.empty() && std::all_of(s.origins.begin(), s.origins.end(), [](const events::AddressOrigin& o) {
    using Kind = events::AddressOrigin::Kind;
    return o.kind == Kind::shared || o.kind == Kind::dynamic_shared || o.kind == Kind::local;
  });
}

namespace {

bool host_can_use(const Launch& launch, const Bound& memory) {
  const Range* const range = launch.ranges->find(memory.low);
  return range && (range->host || range->managed);
}

}  // namespace

std::vector<std::uint8_t> sites_to_watch(const Launch& launch, const std::vector<SiteBounds>& bounds) {
  const events::Wants& wants = launch.wants;
  const std::vector<events::Site>& sites = launch.kernel->code->facts().sites;
  std::vector<Bound> written;
  bool anything = false;
  for (std::size_t i = 0; i < sites.size(); ++i) {
    if (!may_write(sites[i]) || never_global(sites[i])) continue;
    anything |= bounds[i].memory.origin == nullptr;
    written.push_back(bounds[i].memory);
  }
  std::vector<std::uint8_t> out(sites.size(), 1);
  for (std::size_t i = 0; i < sites.size(); ++i) {
    const events::Site& s = sites[i];
    if (s.space == StateSpace::local || s.space == StateSpace::param) out[i] = 0;
    if (s.space == StateSpace::shared && wants.no_shared) out[i] = 0;
    if (s.space != StateSpace::global || s.kind != SiteKind::load || s.order != events::MemoryOrder::weak || s.at_l2)
      continue;
    const Bound& reads = bounds[i].memory;
    out[i] = anything || (wants.host_memory && reads.origin && host_can_use(launch, reads)) ||
             (reads.origin == nullptr && !written.empty()) ||
             std::any_of(written.begin(), written.end(),
                         [&](const Bound& w) { return w.low < reads.high && reads.low < w.high; });
  }
  return out;
}

void watch_in_machine_code(Launch& launch, const std::vector<std::unique_ptr<Worker>>& workers) {
  for (unsigned i = 0; i < launch.workers; ++i)
    for (std::uint32_t s = 0; s < launch.kernel->sites.size(); ++s)
      workers[i]->sites[s].watched = workers[i]->logged_sites[s].watched = is_watched(launch, s) ? 1 : 0;
}

std::uint32_t watch(jit::WarpContext& c, std::uint32_t site, std::uint64_t base, std::int64_t kx, std::int64_t ky,
                    LaneMask mask) {
  const Worker& worker = worker_of(c);
  const Launch& launch = *worker.launch;
  const SiteFacts& f = launch.kernel->sites[site];
  const events::AffineAccess event{
      &launch.info, site, f.form.space, Dim3{c.ctaid[0], c.ctaid[1], c.ctaid[2]}, c.warp,      mask,
      base,         kx,   ky,           jit::row_length(launch.kernel->shape),    f.form.type, f.order,
      f.form.bytes};
  for (events::Observer* o : launch.observers->of_accesses(f.form.space))
    if (!o->on_affine_access(event, worker.number)) return 0;
  return 1;
}

}  // namespace warpgrind::device
