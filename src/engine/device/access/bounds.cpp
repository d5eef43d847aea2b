// Bounds of accesses: objects that the address origins of a site point into, by the arguments of a launch.
#include "device/access/bounds.h"

#include <cstring>
#include <optional>

#include "base/assert.h"
#include "device/memory/address_space.h"
#include "device/module.h"

namespace warpgrind::device {

namespace {

// The allocation that a parameter points into. nullopt: it points nowhere. Unknown bounds: it may point anywhere.
std::optional<Bound> bound_by_value(const Launch& launch, const events::AddressOrigin& origin) {
  std::uint64_t value = 0;
  if (origin.offset + sizeof value > launch.kernel->code->parameter_bytes) return Bound{};
  std::memcpy(&value, launch.parameters + origin.offset, sizeof value);
  const Range* range = launch.ranges->find(value);
  // A plain number, unless it is in the reserved range: then it is a pointer just past an object, or to freed memory.
  if (!range && !AddressSpace::instance().inside_reserved(value)) return std::nullopt;
  // Host memory is registered in arbitrary pieces, and kernels divide the device heap themselves: no bounds.
  if (!range || range->host || range->kernel_heap || range->internal) return Bound{};
  return Bound{range->low, range->high, &origin};
}

std::optional<Bound> bound_by(const Launch& launch, const events::AddressOrigin& origin) {
  using Kind = events::AddressOrigin::Kind;
  switch (origin.kind) {
    case Kind::parameter:
      return bound_by_value(launch, origin);
    case Kind::variable: {
      WG_ASSERT(origin.index < launch.module->globals().size());
      const std::uint64_t at = launch.module->globals()[origin.index];
      return at && origin.bytes ? Bound{at, at + origin.bytes, &origin} : Bound{};
    }
    case Kind::dynamic_shared:
      return Bound{origin.offset, launch.shared_size, &origin};
    default:
      return Bound{origin.offset, origin.offset + origin.bytes, &origin};
  }
}

StateSpace space_of(events::AddressOrigin::Kind kind) {
  using Kind = events::AddressOrigin::Kind;
  return kind == Kind::local                                    ? StateSpace::local
         : kind == Kind::shared || kind == Kind::dynamic_shared ? StateSpace::shared
                                                                : StateSpace::global;
}

// Bounds in a space, if all origins in that space point into one object.
Bound bound_in(const Launch& launch, const events::Site& site, StateSpace space) {
  Bound out;
  for (const events::AddressOrigin& origin : site.origins) {
    if (space_of(origin.kind) != space) continue;
    const std::optional<Bound> next = bound_by(launch, origin);
    if (!next) continue;
    if (!next->origin || (out.origin && (out.low != next->low || out.high != next->high))) return {};
    if (!out.origin) out = *next;
  }
  return out;
}

}  // namespace

std::vector<SiteBounds> site_bounds(const Launch& launch) {
  std::vector<SiteBounds> out;
  for (const events::Site& site : launch.kernel->code->facts().sites)
    out.push_back({bound_in(launch, site, StateSpace::global), bound_in(launch, site, StateSpace::shared),
                   bound_in(launch, site, StateSpace::local)});
  WG_ASSERT(out.size() == launch.kernel->code->facts().sites.size());
  return out;
}

}  // namespace warpgrind::device
