// wg_load and similar functions (jit/abi.h), which machine code calls if its inline cache does not cover an access.
#include <algorithm>
#include <bit>
#include <cstring>

#include "base/assert.h"
#include "base/sanitizers.h"
#include "device/access/access.h"
#include "device/access/access_log.h"
#include "device/access/count.h"
#include "device/access/inline_cache.h"
#include "device/access/lane_requests.h"
#include "device/access/shadows.h"
#include "device/access/watched.h"
#include "device/device_impl.h"
#include "device/symbols.h"

namespace warpgrind::device {

namespace {

// Access as written in the instruction; the site says whether it is a load.
Access written_access(void* context, std::uint32_t site, LaneMask mask) {
  Access a = access_of(warp(context), site);
  a.mask = mask;
  return a;
}

void by_lanes(void* context, std::uint32_t site, const std::uint64_t* addresses, LaneMask mask, void* values) {
  Access a = access_of(warp(context), site);
  load_or_store(a, Lanes<GenericAddress>(addresses), mask, values);
}

bool contiguous(const Access& s, const AffineAddresses& a, unsigned row) {
  return s.vector == 1 && a.kx == static_cast<std::int64_t>(s.bytes()) &&
         (row == kWarpSize || a.ky == static_cast<std::int64_t>(s.bytes()) * row);
}

// Serves an access of all lanes to one address of global memory if the warp is logged and the site's window has the
// address. Machine code does that itself only for sites that follow no other (access_groups.h). values: of all lanes
// (stores), or of one (loads).
bool served_logged(void* context, std::uint32_t site, const AffineAddresses& a, LaneMask mask, void* values) {
  jit::WarpContext& c = warp(context);
  if (a.kx != 0 || a.ky != 0 || mask == 0 || !is_logging(c)) return false;
  const Launch& launch = launch_of(c);
  if (is_watched(launch, site) || launch.watch || launch.shadow) return false;  // these need every detail
  const SiteFacts& facts = launch.kernel->sites[site];
  if (facts.form.space != StateSpace::global || !is_logged_by_calls(launch, StateSpace::global) ||
      !is_cached(c, site, a) || !count_logged(c, site, a, mask))
    return false;
  const NotWatched guard;
  auto* const memory = reinterpret_cast<std::uint8_t*>(a.base);
  if (facts.form.type == AccessType::load) {
    std::memcpy(values, memory, facts.form.bytes);
    return true;
  }
  const unsigned last = kWarpSize - 1 - static_cast<unsigned>(std::countl_zero(mask));  // as in a serial order
  for (unsigned e = 0; e < facts.vector; ++e)
    std::memcpy(memory + std::size_t{e} * facts.element,
                static_cast<std::uint8_t*>(values) + (std::size_t{e} * kWarpSize + last) * facts.element,
                facts.element);
  return true;
}

void by_affine(void* context, std::uint32_t site, const AffineAddresses& a, LaneMask mask, void* values) {
  if (mask == 0) return;
  Access s = written_access(context, site, mask);
  const jit::LaneShape shape = launch_of(*s.context).kernel->shape;
  const auto place = pass_affine(s, a);
  alignas(64) std::uint64_t addresses[kWarpSize];
  if (place && s.writes() && launch_of(*s.context).shadow) {
    expand(a, shape, addresses);
    s.addresses = addresses;
    define(s);
  }
  if (place && place->space == StateSpace::shared && mask != kFullMask && s.context->sites[site].lanes.places == 0) {
    expand(a, shape, addresses);
    s.addresses = addresses;
    open_window(s);  // if lanes that are off lie outside, the inline cache never serves the site
  }
  if (place && place->space != StateSpace::local && contiguous(s, a, jit::row_length(shape))) {
    auto* memory = reinterpret_cast<std::uint8_t*>(place->host_base);
    return s.writes() ? copy_lanes(memory, values, mask, s.element) : copy_lanes(values, memory, mask, s.element);
  }
  expand(a, shape, addresses);
  if (!place) return load_or_store(s, Lanes<GenericAddress>(addresses), mask, values);
  if (place->space == StateSpace::local) return move_local(s.at(Lanes<LocalOffset>(addresses), mask), values);
  if (mask != kFullMask) {  // machine code makes the next ones of the site
    s.addresses = addresses;
    open_window(s);
  }
  const std::uint64_t origin = place->host_base - a.base;
  if (s.writes())
    scatter(values, origin, addresses, mask, s.element, s.vector);
  else
    gather(values, origin, addresses, mask, s.element, s.vector);
}

void load_uniform(void* context, std::uint32_t site, std::uint64_t base, LaneMask mask, void* out) {
  const AffineAddresses a{base, 0, 0};
  if (mask == 0 || served_logged(context, site, a, mask, out)) return;
  Access s = written_access(context, site, mask);
  const auto place = pass_affine(s, a);
  if (place && place->space != StateSpace::local) {
    const NotWatched guard;
    WG_DEBUG_ASSERT(s.bytes() <= 32);
    std::memcpy(out, reinterpret_cast<const void*>(place->host_base), s.bytes());
    return;
  }
  alignas(64) std::uint64_t addresses[kWarpSize];
  expand(a, launch_of(*s.context).kernel->shape, addresses);
  alignas(64) std::uint8_t values[32 * kWarpSize];
  if (place)
    move_local(s.at(Lanes<LocalOffset>(addresses), mask), values);
  else
    load_or_store(s, Lanes<GenericAddress>(addresses), mask, values);
  const auto lane = static_cast<unsigned>(std::countr_zero(mask));
  for (unsigned e = 0; e < s.vector; ++e)
    std::memcpy(static_cast<std::uint8_t*>(out) + std::size_t{e} * s.element,
                values + (std::size_t{e} * kWarpSize + lane) * s.element, s.element);
}

// Moves parameters of functions to or from local memory, one word of each lane at a time. No instruction of the program
// makes these accesses, so they are not counted.
void move_stack(void* context, std::uint32_t site, LaneMask mask, std::uint64_t offset, std::uint32_t* planes,
                std::uint32_t words, AccessType type) {
  if (mask == 0) return;
  Access a;
  a.context = &warp(context);
  a.site = site;
  a.form.type = type;
  a.form.bytes = 4;
  a.path = events::AccessPath::call;
  a.counted = false;
  alignas(64) std::uint64_t addresses[kWarpSize];
  for (std::uint32_t w = 0; w < words; ++w) {
    std::fill_n(addresses, kWarpSize, offset + std::uint64_t{w} * 4);
    Access part = a.at(Lanes<LocalOffset>(addresses), mask);
    const Place place = pass(part);
    move(part, place, planes + std::size_t{w} * kWarpSize);
  }
}

bool in_parameters(const Launch& launch, std::uint64_t address) {
  return address - reinterpret_cast<std::uint64_t>(launch.parameters) < kParameterAreaBytes;
}

}  // namespace

std::span<const jit::CallSymbol> memory_symbols() {
  static const jit::CallSymbol symbols[] = {
      {"wg_load", reinterpret_cast<void*>(&wg_load)},
      {"wg_store", reinterpret_cast<void*>(&wg_store)},
      {"wg_load_affine", reinterpret_cast<void*>(&wg_load_affine)},
      {"wg_store_affine", reinterpret_cast<void*>(&wg_store_affine)},
      {"wg_watch", reinterpret_cast<void*>(&wg_watch)},
      {"wg_count_affine", reinterpret_cast<void*>(&wg_count_affine)},
      {"wg_count_lanes", reinterpret_cast<void*>(&wg_count_lanes)},
      {"wg_load_uniform", reinterpret_cast<void*>(&wg_load_uniform)},
      {"wg_put_on_stack", reinterpret_cast<void*>(&wg_put_on_stack)},
      {"wg_take_from_stack", reinterpret_cast<void*>(&wg_take_from_stack)},
      {"wg_is_constant", reinterpret_cast<void*>(&wg_is_constant)},
      {"wg_is_parameter", reinterpret_cast<void*>(&wg_is_parameter)},
  };
  return symbols;
}

}  // namespace warpgrind::device

using namespace warpgrind;
using namespace warpgrind::device;

extern "C" {

void wg_load(void* context, std::uint32_t site, const std::uint64_t* addresses, std::uint32_t mask, void* out) {
  by_lanes(context, site, addresses, mask, out);
}

void wg_store(void* context, std::uint32_t site, const std::uint64_t* addresses, std::uint32_t mask,
              const void* values) {
  by_lanes(context, site, addresses, mask, const_cast<void*>(values));
}

void wg_load_affine(void* context, std::uint32_t site, std::uint64_t base, std::int64_t kx, std::int64_t ky,
                    std::uint32_t mask, void* out) {
  by_affine(context, site, {base, kx, ky}, mask, out);
}

void wg_store_affine(void* context, std::uint32_t site, std::uint64_t base, std::int64_t kx, std::int64_t ky,
                     std::uint32_t mask, const void* values) {
  const AffineAddresses a{base, kx, ky};
  void* const stored = const_cast<void*>(values);
  if (!served_logged(context, site, a, mask, stored)) by_affine(context, site, a, mask, stored);
}

std::uint32_t wg_watch(void* context, std::uint32_t site, std::uint64_t base, std::int64_t kx, std::int64_t ky,
                       std::uint32_t mask) {
  return watch(*static_cast<jit::WarpContext*>(context), site, base, kx, ky, mask);
}

void wg_count_affine(void* context, std::uint32_t site, std::uint64_t base, std::int64_t kx, std::int64_t ky,
                     std::uint32_t mask) {
  const AffineAddresses a{base, kx, ky};
  if (!count_logged(warp(context), site, a, mask)) count_checked(written_access(context, site, mask), a);
}

void wg_count_lanes(void* context, std::uint32_t site) {
  Worker& worker = worker_of(warp(context));
  for (jit::SiteState* of : {worker.sites, worker.logged_sites})  // machine code may still use either of them
    if (of[site].lanes.kept == kKeptRequests) fold_lane_requests(worker, site, of[site].lanes);
}

void wg_load_uniform(void* context, std::uint32_t site, std::uint64_t base, std::uint32_t mask, void* out) {
  load_uniform(context, site, base, mask, out);
}

void wg_put_on_stack(void* context, std::uint32_t site, std::uint32_t mask, std::uint64_t offset, const void* planes,
                     std::uint32_t words) {
  auto* values = static_cast<std::uint32_t*>(const_cast<void*>(planes));
  move_stack(context, site, mask, offset, values, words, AccessType::store);
}

void wg_take_from_stack(void* context, std::uint32_t site, std::uint32_t mask, std::uint64_t offset, void* planes,
                        std::uint32_t words) {
  move_stack(context, site, mask, offset, static_cast<std::uint32_t*>(planes), words, AccessType::load);
}

void wg_is_constant(void* context, std::uint8_t* out, const std::uint64_t* addresses) {
  const Launch& launch = launch_of(warp(context));
  for (unsigned l = 0; l < kWarpSize; ++l) {
    Range range;
    out[l] = !in_parameters(launch, addresses[l]) && find_allocation(launch, addresses[l], &range) && range.constant;
  }
}

void wg_is_parameter(void* context, std::uint8_t* out, const std::uint64_t* addresses) {
  for (unsigned l = 0; l < kWarpSize; ++l) out[l] = in_parameters(launch_of(warp(context)), addresses[l]);
}

}  // extern "C"
