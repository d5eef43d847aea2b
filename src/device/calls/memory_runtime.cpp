// wg_load and its like (jit/abi.h): what machine code calls when its inline cache does not decide.
#include "device/calls/memory_runtime.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "device/calls/lane_vectors.h"
#include "device/calls/site_counting.h"
#include "device/calls/symbols.h"

namespace warpgrind::device {

namespace {

struct Affine {
  std::uint64_t base;
  std::int64_t kx, ky;
  // Smallest and largest distance of a lane from base, over all 32 lanes.
  std::int64_t least(unsigned row) const {
    return std::min<std::int64_t>(0, x(row)) + std::min<std::int64_t>(0, y(row));
  }
  std::int64_t most(unsigned row) const {
    return std::max<std::int64_t>(0, x(row)) + std::max<std::int64_t>(0, y(row));
  }
  std::int64_t x(unsigned row) const { return kx * static_cast<std::int64_t>(row - 1); }
  std::int64_t y(unsigned row) const { return ky * static_cast<std::int64_t>(kWarpSize / row - 1); }
  // Lanes that exist along each direction decide alignment.
  std::uint64_t bits(unsigned row) const {
    return base | (row > 1 ? static_cast<std::uint64_t>(kx) : 0) |
           (row < kWarpSize ? static_cast<std::uint64_t>(ky) : 0);
  }
};

void expand(const Affine& a, jit::LaneShape shape, std::uint64_t* addresses) {
  const unsigned row = jit::row_length(shape);
  std::uint64_t start = a.base;
  for (unsigned first = 0; first < kWarpSize; first += row) {
    for (unsigned l = 0; l < row; ++l) addresses[first + l] = start + static_cast<std::uint64_t>(a.kx) * l;
    start += static_cast<std::uint64_t>(a.ky);
  }
}

// The memory a site's affine access may use: [low, high) in addresses of its space, and where it is on the host.
struct Window {
  std::uint64_t low = 0, high = 0, origin = 0;
  StateSpace space = StateSpace::global;
  bool cacheable = true;  // the site has an inline fast path
};

// False: not decided here.
bool window_of(const AccessSite& s, StateSpace written, const Affine& a, Window* w) {
  jit::WarpContext& c = *s.context;
  switch (written) {
    case StateSpace::shared:
      *w = {0, c.shared_size, reinterpret_cast<std::uint64_t>(c.shared), StateSpace::shared, true};
      return true;
    case StateSpace::local:
      *w = {0, c.local_size, 0, StateSpace::local, true};
      return true;
    case StateSpace::global:
    case StateSpace::constant:
      break;
    default:
      if (a.base >= kSharedWindow) return false;
      w->cacheable = false;
  }
  Worker& worker = worker_of(c);
  Range& range = worker.records[s.site].range;
  if (!range.holds(a.base, a.base) && !find_allocation(*worker.launch, a.base, &range)) {
    // The base may lie outside when its lanes are off or the steps are negative.
    range = {};
    return false;
  }
  if (s.write && range.constant) return false;
  w->low = range.low;
  w->high = range.high;
  return true;
}

bool covers(const jit::SiteState& state, const AccessSite& s, const Affine& a) {
  return std::rotr(a.base - state.low, std::countr_zero(s.bytes)) <= state.span && state.key_x == a.kx &&
         state.key_y == a.ky;
}

// The inline cache takes over after an access that was good for all 32 lanes, on or off. Sites that change all the time
// keep their old cache most times: folding costs more than a careful access.
void refill(Worker& worker, const AccessSite& s, const Affine& a, const Window& w, unsigned row, LaneMask mask) {
  SiteRecord& record = worker.records[s.site];
  constexpr std::uint32_t kEager = 16, kLater = 64;
  const std::uint32_t n = record.refills++;
  if (n >= kEager && n % kLater != 0)
    return count_affine(worker, s.site, w.space, a.base, a.kx, a.ky, mask, s.bytes, s.type);
  fold_inline_cache(worker, s.site);
  jit::SiteState& state = worker.sites[s.site];
  const std::uint64_t within = s.bytes - 1;
  const std::uint64_t low = (w.low - static_cast<std::uint64_t>(a.least(row)) + within) & ~within;
  const std::uint64_t high = (w.high - s.bytes - static_cast<std::uint64_t>(a.most(row))) & ~within;
  state.low = low;
  state.span = (high - low) >> std::countr_zero(s.bytes);
  state.key_x = a.kx;
  state.key_y = a.ky;
  if (!worker.launch->counters) return;
  if (mask == kFullMask)
    ++state.histogram[a.base & 255];
  else
    count_masked(worker, s.site, w.space, a.base, a.kx, a.ky, mask, s.bytes, s.type);
}

// True: checked and counted. False: the lanes must be looked at one by one.
bool affine_access(const AccessSite& s, StateSpace written, const Affine& a, LaneMask mask, Window* w) {
  Worker& worker = worker_of(*s.context);
  const Launch& launch = *worker.launch;
  const unsigned row = jit::row_length(launch.kernel->shape);
  if (launch.observe_accesses || !window_of(s, written, a, w)) return false;
  if (a.bits(row) & (s.bytes - 1)) return false;
  if (w->space == StateSpace::local && (a.kx != 0 || a.ky != 0 || mask != kFullMask)) return false;
  // Distances are below 2^58 for anything in bounds, so that these sums do not overflow.
  constexpr std::int64_t kLimit = std::int64_t{1} << 50;
  if (a.kx > kLimit || a.kx < -kLimit || a.ky > kLimit || a.ky < -kLimit || a.base > static_cast<std::uint64_t>(kLimit))
    return false;
  const auto base = static_cast<std::int64_t>(a.base);
  if (base + a.least(row) < static_cast<std::int64_t>(w->low) ||
      base + a.most(row) + static_cast<std::int64_t>(s.bytes) > static_cast<std::int64_t>(w->high))
    return false;
  if (w->cacheable && !covers(worker.sites[s.site], s, a))
    refill(worker, s, a, *w, row, mask);
  else
    (w->cacheable ? count_masked : count_affine)(worker, s.site, w->space, a.base, a.kx, a.ky, mask, s.bytes, s.type);
  return true;
}

bool contiguous(const AccessSite& s, const Affine& a, unsigned row) {
  return s.count == 1 && a.kx == static_cast<std::int64_t>(s.bytes) &&
         (row == kWarpSize || a.ky == static_cast<std::int64_t>(s.bytes) * row);
}

void access_affine(void* context, std::uint32_t site, const Affine& a, LaneMask mask, void* values, bool write) {
  if (mask == 0) return;
  const AccessSite s = site_access(warp(context), site, write);
  const KernelRecord& kernel = *launch_of(*s.context).kernel;
  const StateSpace written = kernel.sites[site].space;
  Window w;
  std::uint64_t addresses[kWarpSize];
  if (!affine_access(s, written, a, mask, &w)) {
    expand(a, kernel.shape, addresses);
    return access_lanes(s, written, addresses, mask, values);
  }
  if (w.space == StateSpace::local) {
    expand(a, kernel.shape, addresses);
    return move_local(s, addresses, mask, values);
  }
  if (contiguous(s, a, jit::row_length(kernel.shape))) {
    auto* memory = reinterpret_cast<std::uint8_t*>(w.origin + a.base);
    return write ? copy_lanes(memory, values, mask, s.element) : copy_lanes(values, memory, mask, s.element);
  }
  expand(a, kernel.shape, addresses);
  if (write)
    scatter(values, w.origin, addresses, mask, s.element, s.count);
  else
    gather(values, w.origin, addresses, mask, s.element, s.count);
}

void load_uniform(void* context, std::uint32_t site, std::uint64_t base, LaneMask mask, void* out) {
  if (mask == 0) return;
  const AccessSite s = site_access(warp(context), site, false);
  const KernelRecord& kernel = *launch_of(*s.context).kernel;
  const StateSpace written = kernel.sites[site].space;
  const Affine a{base, 0, 0};
  Window w;
  if (affine_access(s, written, a, mask, &w) && w.space != StateSpace::local) {
    std::memcpy(out, reinterpret_cast<const void*>(w.origin + base), s.bytes);
    return;
  }
  std::uint64_t addresses[kWarpSize];
  expand(a, kernel.shape, addresses);
  alignas(64) std::uint8_t values[32 * kWarpSize];
  access_lanes(s, written, addresses, mask, values);
  const auto lane = static_cast<unsigned>(std::countr_zero(mask));
  for (unsigned e = 0; e < s.count; ++e)
    std::memcpy(static_cast<std::uint8_t*>(out) + std::size_t{e} * s.element,
                values + (std::size_t{e} * kWarpSize + lane) * s.element, s.element);
}

}  // namespace

std::span<const jit::CallSymbol> memory_symbols() {
  static const jit::CallSymbol symbols[] = {
      {"wg_load", reinterpret_cast<void*>(&wg_load)},
      {"wg_store", reinterpret_cast<void*>(&wg_store)},
      {"wg_load_affine", reinterpret_cast<void*>(&wg_load_affine)},
      {"wg_store_affine", reinterpret_cast<void*>(&wg_store_affine)},
      {"wg_count_affine", reinterpret_cast<void*>(&wg_count_affine)},
      {"wg_load_uniform", reinterpret_cast<void*>(&wg_load_uniform)},
  };
  return symbols;
}

}  // namespace warpgrind::device

using namespace warpgrind;
using namespace warpgrind::device;

extern "C" {

void wg_load(void* context, std::uint32_t site, const std::uint64_t* addresses, std::uint32_t mask, void* out) {
  access_lanes(site_access(warp(context), site, false), launch_of(warp(context)).kernel->sites[site].space, addresses,
               mask, out);
}

void wg_store(void* context, std::uint32_t site, const std::uint64_t* addresses, std::uint32_t mask,
              const void* values) {
  access_lanes(site_access(warp(context), site, true), launch_of(warp(context)).kernel->sites[site].space, addresses,
               mask, const_cast<void*>(values));
}

void wg_load_affine(void* context, std::uint32_t site, std::uint64_t base, std::int64_t kx, std::int64_t ky,
                    std::uint32_t mask, void* out) {
  access_affine(context, site, {base, kx, ky}, mask, out, false);
}

void wg_store_affine(void* context, std::uint32_t site, std::uint64_t base, std::int64_t kx, std::int64_t ky,
                     std::uint32_t mask, const void* values) {
  access_affine(context, site, {base, kx, ky}, mask, const_cast<void*>(values), true);
}

void wg_count_affine(void* context, std::uint32_t site, std::uint64_t base, std::int64_t kx, std::int64_t ky,
                     std::uint32_t mask) {
  Worker& worker = worker_of(warp(context));
  const SiteFacts& f = worker.launch->kernel->sites[site];
  count_masked(worker, site, f.space, base, kx, ky, mask, f.bytes, f.type);
}

void wg_load_uniform(void* context, std::uint32_t site, std::uint64_t base, std::uint32_t mask, void* out) {
  load_uniform(context, site, base, mask, out);
}

}  // extern "C"
