// Tracking of undefined bits in accesses that machine code does not perform itself, and events of their uses.
#include "device/definedness/tracking.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "base/element.h"
#include "device/access/shadows.h"
#include "device/definedness/origin_search.h"
#include "device/device_impl.h"
#include "device/memory/undefined_origins.h"
#include "device/symbols.h"
#include "device/turns.h"

namespace warpgrind::device {

namespace {

using events::UndefinedOrigin;
using Use = events::UndefinedUse::Use;

// Access of one lane, with the address in its space.
struct LaneAccess {
  StateSpace space = StateSpace::global;
  std::uint64_t address = 0;
  LaneShadow shadow;
};

LaneAccess lane_access(jit::WarpContext& c, StateSpace written, std::uint64_t address, std::uint64_t bytes,
                       unsigned lane) {
  LaneAccess a;
  const GenericAddress generic{address};
  a.space = written == StateSpace::generic || written == StateSpace::none ? (in_shared(generic)  ? StateSpace::shared
                                                                             : in_local(generic) ? StateSpace::local
                                                                                                 : StateSpace::global)
                                                                          : written;
  const std::uint64_t before = written == StateSpace::shared ? own_start(c) : 0;  // machine code has subtracted it
  a.address = a.space == StateSpace::shared  ? raw(shared_offset(c, generic + before))
              : a.space == StateSpace::local ? raw(local_offset(generic))
                                             : address;
  a.shadow = shadow_of(c, a.space, a.address, bytes, lane);
  return a;
}

// Calls f for the shadow of each of the `bytes` bytes.
template <class F>
void each_byte(const LaneAccess& a, std::uint64_t bytes, F&& f) {
  for (std::uint64_t k = 0; k < bytes; ++k) f(*a.shadow.byte(k, a.address), k);
}

// Fast check of the usual case.
bool nothing_undefined(const LaneAccess& a, std::uint64_t bytes) {
  std::uint64_t word = 0;
  if (bytes == 4 && (a.shadow.word_stride == 4 || a.address % 4 == 0)) {
    std::memcpy(&word, a.shadow.at, 4);
    return word == 0;
  }
  if (bytes == 8 && a.shadow.word_stride == 4) {
    std::memcpy(&word, a.shadow.at, 8);
    return word == 0;
  }
  return bytes == 1 && *a.shadow.at == 0;
}

UndefinedOrigins::Owner owner_of(const jit::WarpContext& c, StateSpace space) {
  if (space == StateSpace::global) return {};
  const WarpFiber& f = fiber_of(c);
  return {f.worker->launch->serial + 1, f.block_linear};
}

std::uint64_t host_address(const jit::WarpContext& c, const LaneAccess& a) {
  const auto shadow = reinterpret_cast<std::uint64_t>(a.shadow.at);
  return a.space == StateSpace::shared  ? shadow - c.shared_shadow
         : a.space == StateSpace::local ? shadow - c.local_shadow
                                        : a.address;
}

void note_load(jit::WarpContext& c, std::uint32_t site, const LaneAccess& a, std::uint64_t skip) {
  WarpFiber& f = fiber_of(c);
  leave_turns(c);  // the next warp forgets these loads in start_warp()
  if (!f.undefined_loads) f.undefined_loads = std::make_unique<UndefinedLoads>();
  auto& loads = f.undefined_loads->of;
  const auto known = std::find_if(loads.begin(), loads.end(), [&](const UndefinedLoad& l) { return l.site == site; });
  const UndefinedLoad load{site, a.space, a.address + skip, host_address(c, a)};
  if (known == loads.end())
    loads.push_back(load);
  else
    *known = load;
}

void load_shadow(void* context, std::uint32_t site, const std::uint64_t* addresses, LaneMask mask, void* out) {
  jit::WarpContext& c = warp(context);
  WG_DEBUG_ASSERT(site < launch_of(c).kernel->sites.size());
  const SiteFacts& facts = launch_of(c).kernel->sites[site];
  const std::uint64_t bytes = facts.form.bytes;
  auto* planes = static_cast<std::uint8_t*>(out);
  std::memset(planes, 0, bytes * kWarpSize);
  bool noted = false;
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    const LaneAccess a = lane_access(c, facts.form.space, addresses[lane], bytes, lane);
    if (!a.shadow.at || nothing_undefined(a, bytes)) continue;
    // An access outside its bounds is reported as such; the undefined bits there are not.
    if (!bound_of(launch_of(c), site, a.space).holds(a.address, bytes)) continue;
    std::uint64_t first = bytes;
    each_byte(a, bytes, [&](std::uint8_t bits, std::uint64_t k) {
      if (!bits) return;
      planes[(k / facts.element * kWarpSize + lane) * facts.element + k % facts.element] = bits;
      first = std::min(first, k);
    });
    if (first == bytes || std::exchange(noted, true)) continue;
    note_load(c, site, a, first);
  }
}

void expand(jit::WarpContext& c, std::uint64_t base, std::int64_t kx, std::int64_t ky, std::uint64_t* addresses) {
  const jit::LaneShape shape = launch_of(c).kernel->shape;
  for (unsigned l = 0; l < kWarpSize; ++l)
    addresses[l] = base + static_cast<std::uint64_t>(kx) * jit::lane_x(shape, l) +
                   static_cast<std::uint64_t>(ky) * jit::lane_y(shape, l);
}

// The usual case of an affine load: everything between its lowest and its highest byte is global memory, and defined.
bool reads_only_defined(jit::WarpContext& c, const SiteFacts& facts, std::uint64_t base, std::int64_t kx,
                        std::int64_t ky) {
  constexpr std::int64_t kFarthest = 64;  // of neighbouring lanes, in bytes
  if (facts.form.space == StateSpace::shared || facts.form.space == StateSpace::local) return false;
  if (kx < -kFarthest || kx > kFarthest || ky < -kFarthest || ky > kFarthest) return false;
  const GenericAddress generic{base};
  if (facts.form.space != StateSpace::global && (in_shared(generic) || in_local(generic))) return false;
  const jit::LaneShape shape = launch_of(c).kernel->shape;
  const std::int64_t x = kx * jit::lane_x(shape, kWarpSize - 1), y = ky * jit::lane_y(shape, kWarpSize - 1);
  const std::int64_t low = std::min<std::int64_t>(x, 0) + std::min<std::int64_t>(y, 0);
  const std::int64_t high = std::max<std::int64_t>(x, 0) + std::max<std::int64_t>(y, 0);
  const std::uint64_t first = base + static_cast<std::uint64_t>(low);
  const std::uint64_t bytes = static_cast<std::uint64_t>(high - low) + facts.form.bytes;
  const ShadowMemory& shadow = *launch_of(c).shadow;
  return shadow.covers(first, bytes) && !shadow.any(first, bytes);
}

// The host may write managed memory at any time, without an event: it counts as defined.
bool written_by_host(const Launch& launch, std::uint64_t address) {
  Range range;
  return find_allocation(launch, address, &range) && (range.managed || range.host);
}

void report(jit::WarpContext& c, std::uint32_t site, LaneMask lanes, Use use, FoundOrigin found) {
  Worker& worker = worker_of(c);
  events::UndefinedUse event;
  static_cast<events::WarpEvent&>(event) = warp_event(c, site, lanes);
  event.use = use;
  event.origin = std::move(found.origin);
  event.instruction =
      use == Use::branch ? found.instruction : worker.launch->kernel->code->facts().sites[site].instruction;
  events::publish_undefined_use(*worker.launch->observers, event, worker.number);
}

// x += y with an unwritten x: the store writes a value computed from the same bytes that it overwrites.
bool adds_to_itself(jit::WarpContext& c, std::uint32_t site, const LaneAccess& a, std::uint64_t bytes,
                    const UndefinedOrigin& origin) {
  constexpr std::size_t kThisStore = 1;
  return a.space == StateSpace::global && origin.kind == UndefinedOrigin::Kind::memory &&
         origin.way.size() == kThisStore && origin.address >= a.address && origin.address - a.address < bytes &&
         stores_arithmetic(c, site);
}

// Records the origin of undefined bits that these lanes have stored.
void keep_stored(jit::WarpContext& c, std::uint32_t site, const std::uint64_t* addresses, LaneMask lanes) {
  const SiteFacts& facts = launch_of(c).kernel->sites[site];
  const std::uint64_t bytes = facts.form.bytes;
  std::optional<UndefinedOrigin> origin;
  for (LaneMask m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    const LaneAccess a = lane_access(c, facts.form.space, addresses[lane], bytes, lane);
    if (!a.shadow.at) continue;
    bool any = false;
    each_byte(a, bytes, [&](std::uint8_t bits, std::uint64_t) { any |= bits != 0; });
    if (!any) continue;
    if (a.space == StateSpace::global && written_by_host(launch_of(c), a.address)) {
      each_byte(a, bytes, [](std::uint8_t& bits, std::uint64_t) { bits = 0; });
      continue;
    }
    if (!origin) {
      origin = origin_of_stored(c, site);
      if (adds_to_itself(c, site, a, bytes, *origin)) report(c, site, m, Use::update, {*origin, 0});
    }
    UndefinedOrigins::instance().stored(host_address(c, a), bytes, owner_of(c, a.space), *origin);
  }
}

void store_shadow(void* context, std::uint32_t site, const std::uint64_t* addresses, LaneMask mask,
                  const void* values) {
  jit::WarpContext& c = warp(context);
  const SiteFacts& facts = launch_of(c).kernel->sites[site];
  const std::uint64_t bytes = facts.form.bytes;
  const auto* planes = static_cast<const std::uint8_t*>(values);
  LaneMask undefined = 0;
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    const LaneAccess a = lane_access(c, facts.form.space, addresses[lane], bytes, lane);
    if (!a.shadow.at) continue;
    each_byte(a, bytes, [&](std::uint8_t& bits, std::uint64_t k) {
      bits = planes[(k / facts.element * kWarpSize + lane) * facts.element + k % facts.element];
      if (bits) undefined |= LaneMask{1} << lane;
    });
  }
  if (undefined) keep_stored(c, site, addresses, undefined);
}

}  // namespace

// memset of 0 bytes at a null address takes a processor hundreds of cycles: a masked store that would fault.
void forget_shared(const Block& block, std::uint64_t bytes) {
  if (bytes) std::memset(block.shared + block.shared_shadow, 0xff, bytes);
}

// Marks the kernel's own variables as unwritten. Frames of functions lie behind them, and count as defined.
void forget_local(WarpFiber& f) {
  if (f.undefined_loads) f.undefined_loads->of.clear();
  f.undefined_lanes = 0;
  const std::uint64_t bytes = unwritten_local_bytes(*f.worker->launch);
  if (bytes) std::memset(f.local + f.context.local_shadow, 0xff, (bytes + 3) / 4 * 4 * kWarpSize);
}

void check_update(const Access& access, bool uses_old) {
  if (!uses_old || access.form.space == StateSpace::local) return;
  LaneMask undefined = 0;
  const std::uint64_t bytes = access.bytes();
  if (bytes == 4) {
    each_shadow(access, [&](unsigned lane, const std::uint8_t* at) {
      std::uint32_t word = 0;
      std::memcpy(&word, at, 4);
      if (word) undefined |= LaneMask{1} << lane;
    });
  } else {
    each_shadow(access, [&](unsigned lane, const std::uint8_t* at) {
      if (std::any_of(at, at + bytes, [](std::uint8_t b) { return b != 0; })) undefined |= LaneMask{1} << lane;
    });
  }
  if (!undefined) return;
  jit::WarpContext& c = *access.context;
  const auto lane = static_cast<unsigned>(std::countr_zero(undefined));
  const StateSpace space = access.form.space;
  const LaneAccess a{space, access.addresses[lane], shadow_of(c, space, access.addresses[lane], bytes, lane)};
  const auto first = static_cast<std::uint64_t>(
      std::find_if(a.shadow.at, a.shadow.at + bytes, [](std::uint8_t b) { return b != 0; }) - a.shadow.at);
  report(c, access.site, undefined, Use::update,
         {origin_of_memory(c, {access.site, space, a.address + first, host_address(c, a)}), 0});
}

std::span<const jit::CallSymbol> definedness_symbols() {
  static const jit::CallSymbol symbols[] = {
      {"wg_load_shadow", reinterpret_cast<void*>(&wg_load_shadow)},
      {"wg_load_shadow_affine", reinterpret_cast<void*>(&wg_load_shadow_affine)},
      {"wg_load_shadow_uniform", reinterpret_cast<void*>(&wg_load_shadow_uniform)},
      {"wg_store_shadow", reinterpret_cast<void*>(&wg_store_shadow)},
      {"wg_store_shadow_affine", reinterpret_cast<void*>(&wg_store_shadow_affine)},
      {"wg_undefined_moved", reinterpret_cast<void*>(&wg_undefined_moved)},
      {"wg_undefined_use", reinterpret_cast<void*>(&wg_undefined_use)},
      {"wg_undefined_update", reinterpret_cast<void*>(&wg_undefined_update)},
  };
  return symbols;
}

}  // namespace warpgrind::device

using namespace warpgrind;
using namespace warpgrind::device;

extern "C" {

void wg_load_shadow(void* context, std::uint32_t site, const std::uint64_t* addresses, std::uint32_t mask, void* out) {
  load_shadow(context, site, addresses, mask, out);
}

void wg_load_shadow_affine(void* context, std::uint32_t site, std::uint64_t base, std::int64_t kx, std::int64_t ky,
                           std::uint32_t mask, void* out) {
  jit::WarpContext& c = warp(context);
  const SiteFacts& facts = launch_of(c).kernel->sites[site];
  if (reads_only_defined(c, facts, base, kx, ky)) {
    std::memset(out, 0, std::size_t{facts.form.bytes} * kWarpSize);
    return;
  }
  alignas(64) std::uint64_t addresses[kWarpSize];
  expand(c, base, kx, ky, addresses);
  load_shadow(context, site, addresses, mask, out);
}

void wg_load_shadow_uniform(void* context, std::uint32_t site, std::uint64_t base, std::uint32_t mask, void* out) {
  if (mask == 0) return;
  alignas(64) std::uint64_t addresses[kWarpSize];
  alignas(64) std::uint8_t planes[32 * kWarpSize];
  std::fill_n(addresses, kWarpSize, base);
  const LaneMask one = mask & (~mask + 1);
  load_shadow(context, site, addresses, one, planes);
  const SiteFacts& facts = launch_of(warp(context)).kernel->sites[site];
  const auto lane = static_cast<unsigned>(std::countr_zero(one));
  for (unsigned e = 0; e < facts.vector; ++e)
    std::memcpy(static_cast<std::uint8_t*>(out) + std::size_t{e} * facts.element,
                planes + (std::size_t{e} * kWarpSize + lane) * facts.element, facts.element);
}

void wg_store_shadow(void* context, std::uint32_t site, const std::uint64_t* addresses, std::uint32_t mask,
                     const void* values) {
  store_shadow(context, site, addresses, mask, values);
}

void wg_store_shadow_affine(void* context, std::uint32_t site, std::uint64_t base, std::int64_t kx, std::int64_t ky,
                            std::uint32_t mask, const void* values) {
  alignas(64) std::uint64_t addresses[kWarpSize];
  expand(warp(context), base, kx, ky, addresses);
  store_shadow(context, site, addresses, mask, values);
}

void wg_undefined_moved(void* context, std::uint32_t site, std::uint64_t base, std::int64_t kx, std::int64_t ky,
                        std::uint32_t mask) {
  jit::WarpContext& c = warp(context);
  alignas(64) std::uint64_t addresses[kWarpSize];
  expand(c, base, kx, ky, addresses);
  const SiteFacts& facts = launch_of(c).kernel->sites[site];
  if (facts.form.type != AccessType::load) return keep_stored(c, site, addresses, mask);
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    const LaneAccess a = lane_access(c, facts.form.space, addresses[lane], facts.form.bytes, lane);
    if (!a.shadow.at) continue;
    std::uint64_t first = facts.form.bytes;
    each_byte(a, facts.form.bytes, [&](std::uint8_t bits, std::uint64_t k) {
      if (bits) first = std::min(first, k);
    });
    if (first == facts.form.bytes) continue;
    return note_load(c, site, a, first);
  }
}

void wg_undefined_use(void* context, std::uint32_t site, std::uint32_t lanes, std::uint32_t use) {
  jit::WarpContext& c = warp(context);
  const auto what = static_cast<Use>(use);
  if (what == Use::address) {
    leave_turns(c);  // as in note_load()
    fiber_of(c).undefined_site = site;
    fiber_of(c).undefined_lanes = lanes;
  }
  report(c, site, lanes, what, origin_of_use(c, site, what));
}

void wg_undefined_update(void* context, std::uint32_t site, const std::uint64_t* addresses, std::uint32_t lanes) {
  if (lanes == 0) return;
  jit::WarpContext& c = warp(context);
  const SiteFacts& facts = launch_of(c).kernel->sites[site];
  for (LaneMask m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    const LaneAccess a = lane_access(c, facts.form.space, addresses[lane], facts.form.bytes, lane);
    if (a.shadow.at) each_byte(a, facts.form.bytes, [](std::uint8_t& bits, std::uint64_t) { bits = 0xff; });
  }
  keep_stored(c, site, addresses, lanes);
}

}  // extern "C"
