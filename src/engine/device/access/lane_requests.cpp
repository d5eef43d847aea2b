// Fast path for lanes with arbitrary addresses: windows of sites, and stored requests.
#include "device/access/lane_requests.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"
#include "device/access/access_log.h"
#include "device/access/count.h"
#include "device/access/watchpoints.h"

namespace warpgrind::device {

namespace {

// Space of a site's window. Generic sites have a window of global memory only.
StateSpace space_of_window(StateSpace written) {
  switch (written) {
    case StateSpace::global:
    case StateSpace::constant:
    case StateSpace::shared:
    case StateSpace::local:
      return written;
    case StateSpace::generic:
    case StateSpace::none:
      return StateSpace::global;
    default:
      return StateSpace::none;
  }
}

struct Bounds {
  std::uint64_t low, high;
};

// Bounds [low, high) for accesses of the site around this one. nullopt: check each access.
std::optional<Bounds> bounds_of(const Access& a) {
  jit::WarpContext& c = *a.context;
  const Launch& launch = launch_of(c);
  const Bound& bound = bound_of(launch, a.site, a.form.space);
  if (a.form.space == StateSpace::shared) return Bounds{bound.low, std::min(c.shared_size, bound.high)};
  if (a.form.space == StateSpace::local) return Bounds{bound.low, std::min(c.local_size, bound.high)};
  const Range& range = worker_of(c).records[a.site].range;  // already clipped to the site's bound
  if (range.kernel_heap || (a.writes() && range.constant)) return std::nullopt;
  return Bounds{range.low, range.high};
}

void keep(const Access& a) {
  jit::LaneRequests& lanes = a.context->sites[a.site].lanes;
  WG_DEBUG_ASSERT(lanes.kept < kKeptRequests && a.mask != 0);
  lanes.requests.masks[lanes.kept++] = a.mask;
  if (lanes.kept == kKeptRequests) fold_lane_requests(worker_of(*a.context), a.site, lanes);
}

// Opens a window around the valid addresses from `first` to `last`, the lowest and the highest of the lanes.
void open_around(const Access& a, std::uint64_t first, std::uint64_t last) {
  Worker& worker = worker_of(*a.context);
  const Launch& launch = *worker.launch;
  // Logged, watched and tracked accesses always take the normal path.
  const bool logged = is_logging(*a.context) && is_logged(a.form.space);
  if (logged || launch.shadow != nullptr || is_watched(launch, a.site)) return;
  SiteRecord& record = worker.records[a.site];
  constexpr std::uint32_t kEager = 16, kLater = 64;  // sites that alternate between allocations keep their window
  if (const std::uint32_t n = record.lane_refills++; n >= kEager && n % kLater != 0) return;
  auto found = bounds_of(a);
  if (found && launch.watch && !launch.watch->cut(a.form.space, first, last + a.bytes(), &found->low, &found->high))
    return;
  WG_DEBUG_ASSERT(std::has_single_bit(a.bytes()) && first <= last);
  const std::uint64_t within = a.bytes() - 1;
  if (!found || found->high < a.bytes()) return;
  std::uint64_t low = (found->low + within) & ~within;
  // Offsets have 32 bits.
  if (first > kOffsetLimit / 2) low = std::max(low, (first - kOffsetLimit / 2) & ~std::uint64_t{255});
  const std::uint64_t end = std::min(found->high - a.bytes(), low + (kOffsetLimit - 256)) & ~within;
  if (first < low || last > end) return;
  jit::LaneRequests& lanes = a.context->sites[a.site].lanes;
  fold_lane_requests(worker, a.site, lanes);
  lanes.low = low;
  lanes.places = ((end - low) >> std::countr_zero(a.bytes())) + 1;
  WG_DEBUG_ASSERT(lanes.places > 0 && low % a.bytes() == 0);
}

StateSpace space_of_window(const Access& a) {
  return space_of_window(launch_of(*a.context).kernel->sites[a.site].form.space);
}

}  // namespace

std::optional<Place> pass_lanes(const Access& a) {
  jit::LaneRequests& lanes = a.context->sites[a.site].lanes;
  if (lanes.places == 0 || a.form.space != space_of_window(a)) return std::nullopt;
  const LaneWindow window{lanes.low, lanes.places, static_cast<unsigned>(std::countr_zero(a.bytes()))};
  if (!lanes_in_window(window, a.addresses, a.mask, lanes.requests.offsets[lanes.kept])) return std::nullopt;
  if (launch_of(*a.context).counters) keep(a);
  return Place(a.form.space == StateSpace::shared ? reinterpret_cast<std::uint64_t>(a.context->shared) : 0,
               a.addresses);
}

std::optional<Place> pass_written(Access& a, Lanes<GenericAddress> addresses, LaneMask mask) {
  const StateSpace written = a.form.space;
  a.form.space = space_of_window(written);
  a.addresses = addresses.data();
  a.mask = mask;
  auto place = pass_lanes(a);
  if (!place) a.form.space = written;
  return place;
}

bool keep_affine(const Access& a, const AffineAddresses& affine) {
  Worker& worker = worker_of(*a.context);
  if (a.form.space != space_of_window(a)) return false;
  alignas(64) std::uint64_t addresses[kWarpSize];
  expand(affine, worker.launch->kernel->shape, addresses);
  jit::LaneRequests& lanes = a.context->sites[a.site].lanes;
  const LaneWindow window{lanes.low, lanes.places, static_cast<unsigned>(std::countr_zero(a.bytes()))};
  if (lanes.places == 0 || !lanes_in_window(window, addresses, a.mask, lanes.requests.offsets[lanes.kept])) {
    const Extent x = extent_of(addresses, a.mask);
    open_around(a, x.low, x.high);  // for the next access
    return false;
  }
  keep(a);
  return true;
}

void open_window(const Access& a) {
  if (a.mask == 0 || a.form.space != space_of_window(a)) return;
  const Extent x = extent_of(a.addresses, a.mask);
  open_around(a, x.low, x.high);
  jit::LaneRequests& lanes = a.context->sites[a.site].lanes;
  if (lanes.places != 0 && a.mask == kFullMask) choose_steps(worker_of(*a.context), a.site, lanes, a.addresses);
}

}  // namespace warpgrind::device
