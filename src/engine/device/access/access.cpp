// Order of the steps of an access: check, count, publish, move.
#include "device/access/access.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "base/assert.h"
#include "device/access/access_log.h"
#include "device/access/count.h"
#include "device/access/lane_requests.h"
#include "device/access/shadows.h"
#include "device/access/watchpoints.h"
#include "device/memory/texel_plane.h"

namespace warpgrind::device {

namespace {

std::uint64_t origin_of(const Access& a) {
  switch (a.form.space) {
    case StateSpace::shared:
      return reinterpret_cast<std::uint64_t>(a.context->shared);
    case StateSpace::param:
      return reinterpret_cast<std::uint64_t>(a.context->params);
    default:
      return 0;
  }
}

void publish_event(const Access& a) {
  Worker& worker = worker_of(*a.context);
  const Launch& launch = *worker.launch;
  const jit::WarpContext& c = *a.context;
  const events::Access event{&launch.info,
                             a.site,
                             a.form.space,
                             Dim3{c.ctaid[0], c.ctaid[1], c.ctaid[2]},
                             c.warp,
                             a.mask,
                             std::span<const std::uint64_t, kWarpSize>(a.addresses, kWarpSize),
                             a.form.type,
                             a.path,
                             a.order,
                             a.scope,
                             a.form.bytes,
                             a.sizes,
                             a.writes() ? static_cast<const std::uint8_t*>(a.values) : nullptr,
                             a.element,
                             origin_of(a),
                             a.continues,
                             a.swizzle,
                             a.swizzle_base};
  events::publish_access(*launch.observers, event, worker.number);
}

void publish(const Access& a) {
  if (launch_of(*a.context).shadow && a.writes()) [[unlikely]]
    define(a);
  if (a.published && is_watched(launch_of(*a.context), a.site)) [[unlikely]]
    publish_event(a);
  if (launch_of(*a.context).watch) [[unlikely]]
    show_watched(a);
}

// Passes a contiguous range of one lane, at most 4 GiB at once. That is more than any function that kernels call moves.
std::optional<Place> pass_stretch(jit::WarpContext& context, std::uint32_t site, unsigned lane, GenericAddress address,
                                  std::uint64_t bytes, AccessType type, Access* passed, std::uint64_t* addresses,
                                  std::uint32_t* sizes) {
  if (bytes > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  Access a;
  a.context = &context;
  a.site = site;
  a.form.type = type;
  a.form.bytes = 1;
  a.element = a.vector = 1;
  a.path = events::AccessPath::call;
  a.counted = false;
  sizes[lane] = static_cast<std::uint32_t>(bytes);
  a.sizes = sizes;
  const LaneMask mask = LaneMask{1} << lane;
  if (in_shared(address)) {
    addresses[lane] = raw(shared_offset(context, address));
    *passed = a.at(Lanes<SharedOffset>(addresses), mask);
  } else if (in_local(address)) {
    addresses[lane] = raw(local_offset(address));
    *passed = a.at(Lanes<LocalOffset>(addresses), mask);
  } else {
    addresses[lane] = raw(address);
    *passed = a.at(Lanes<GlobalAddress>(addresses), mask);
  }
  return try_pass(*passed);
}

// Sets the results of suppressed loads to zero.
void clear_lanes(const Access& a, LaneMask lanes, void* values) {
  if (a.writes()) return;
  for (LaneMask m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    for (unsigned e = 0; e < a.vector; ++e)
      std::memset(static_cast<std::uint8_t*>(values) + (std::size_t{e} * kWarpSize + lane) * a.element, 0, a.element);
  }
}

}  // namespace

Place pass(Access& a) {
  WG_DEBUG_ASSERT(a.mask != 0 && a.context);
  const Extent x = check(a);
  if (a.mask == 0) return {0, a.addresses};
  if (a.counted) count(a, x);
  if (is_logging(*a.context)) [[unlikely]]
    log_lanes(a);
  publish(a);
  return {origin_of(a), a.addresses};
}

Place pass_checked(const Access& a) {
  WG_DEBUG_ASSERT(a.mask != 0 && a.context && a.form.space == StateSpace::global);
  if (a.counted) {
    count(a, extent_of(a.addresses, a.mask));
    if (is_logging(*a.context)) [[unlikely]]
      log_lanes(a);
  }
  publish(a);
  return {0, a.addresses};
}

std::optional<Place> try_pass(Access& a) {
  if (!allowed(a)) return std::nullopt;
  if (a.counted) count(a, extent_of(a.addresses, a.mask));
  if (is_logging(*a.context)) [[unlikely]]
    log_lanes(a);
  publish(a);
  return Place{origin_of(a), a.addresses};
}

void Texels::add(unsigned lane, const TexelList::Entry& texel) {
  WG_DEBUG_ASSERT(lane < kWarpSize && read[lane] < std::size(on));
  const unsigned k = read[lane]++;
  on[k] |= LaneMask{1} << lane;
  addresses[k][lane] = texel.address;
  layout[k][lane] = texel.layout;
  most = std::max(most, k + 1);
}

LaneTexels::At LaneTexels::at(unsigned k, unsigned lane) const {
  WG_DEBUG_ASSERT(k < corners && lane < kWarpSize);
  const unsigned c = corner[k];
  const auto along = [&](unsigned axis, unsigned side) { return static_cast<std::uint64_t>(index[axis][side][lane]); };
  return {along(0, c & 1), axes > 1 ? along(1, c >> 1 & 1) : 0, along(2, axes > 2 ? c >> 2 : 0)};
}

void LaneTexels::add_to(Texels& texels) const {
  for (unsigned k = 0; k < corners; ++k)
    for (LaneMask m = on[k]; m != 0; m &= m - 1) {
      const auto l = static_cast<unsigned>(std::countr_zero(m));
      const At t = at(k, l);
      const auto address = reinterpret_cast<std::uint64_t>(plane->at(t.x, t.y, t.slice));
      texels.add(l, {address, plane->layout(t.x, t.y, t.slice)});
    }
}

unsigned LaneTexels::bytes() const {
  return static_cast<unsigned>(plane->bytes);
}

void pass_texels(jit::WarpContext& context, std::uint32_t site, LaneMask mask, std::span<const LaneTexels> lanes) {
  Worker& worker = worker_of(context);
  const bool counted = count_texels(worker, site, mask, lanes);
  const bool observed = is_logging(context) || is_watched(*worker.launch, site);
  if (!observed && counted) return;
  Texels texels;
  for (const LaneTexels& one : lanes) one.add_to(texels);
  Access a = texel_access(context, site, lanes.front().bytes(), lanes.front().group);
  a.counted = !counted;
  pass_texels(a, mask, texels);
}

void pass_texels(const Access& a, LaneMask mask, const Texels& texels) {
  if (a.counted) count_texels(a, mask, texels);
  if (is_logging(*a.context)) [[unlikely]]
    log_texels(a, texels);
  for (unsigned k = 0; k < texels.most; ++k) publish(a.at_texels(texels.addresses[k], texels.on[k]));
}

void load_or_store(Access& a, Lanes<GenericAddress> addresses, LaneMask mask, void* values) {
  if (mask == 0) return;
  a.values = values;
  const auto pass_and_move = [&](Access& part) {
    const LaneMask requested = part.mask;
    const Place place = pass(part);
    if (part.mask != requested) [[unlikely]]
      clear_lanes(part, requested & ~part.mask, values);
    move(part, place, values);
    open_window(part);
  };
  const auto run = [&](auto&& part) {
    if (part.writes() && launch_of(*part.context).shadow) define(part);  // a repeated pattern skips pass()
    if (move_repeated(part, values)) return;
    if (const auto place = pass_lanes(part)) return move(part, *place, values);
    pass_and_move(part);
  };
  const StateSpace written = a.form.space;
  if (written == StateSpace::global || written == StateSpace::constant) {
    a.go_to(Lanes<GlobalAddress>(addresses.data()), mask);
    run(a);
  } else if (written == StateSpace::shared) {
    alignas(64) std::uint64_t offsets[kWarpSize];
    own_offsets(*a.context, addresses.data(), offsets);
    a.go_to(Lanes<SharedOffset>(offsets), mask);
    run(a);
  } else if (written == StateSpace::param) {
    alignas(64) std::uint64_t offsets[kWarpSize];
    const auto first = reinterpret_cast<std::uint64_t>(a.context->params);
    for (unsigned l = 0; l < kWarpSize; ++l) offsets[l] = raw(addresses[l]) - first;
    Access part = a.at(Lanes<ParameterOffset>(offsets), mask);
    pass_and_move(part);
  } else {
    each_space(a, addresses, mask, run);
  }
}

SpaceMasks split_spaces(StateSpace written, Lanes<GenericAddress> addresses, LaneMask mask) {
  switch (written) {
    case StateSpace::shared:
      return {0, mask, 0};
    case StateSpace::local:
      return {0, 0, mask};
    case StateSpace::global:
    case StateSpace::constant:
      return {mask, 0, 0};
    default:
      break;
  }
  const Extent x = extent_of(addresses.data(), mask);
  if (x.high < kSharedWindow) return {mask, 0, 0};
  if (in_window(x.low, kSharedWindow) && in_window(x.high, kSharedWindow)) return {0, mask, 0};
  if (in_window(x.low, kLocalWindow) && in_window(x.high, kLocalWindow)) return {0, 0, mask};
  SpaceMasks s;
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const LaneMask bit = m & (~m + 1);
    const GenericAddress address = addresses[static_cast<unsigned>(std::countr_zero(m))];
    (in_shared(address) ? s.shared : in_local(address) ? s.local : s.global) |= bit;
  }
  return s;
}

void local_offsets(Lanes<GenericAddress> addresses, std::uint64_t* offsets) {
  for (unsigned l = 0; l < kWarpSize; ++l) offsets[l] = raw(local_offset(addresses[l]));
}

SharedOffset shared_offset(const jit::WarpContext& c, GenericAddress address) {
  const std::uint64_t in_window = raw(address) & (kWindowSize - 1);
  const std::uint64_t offset = in_window - own_start(c);  // modulo 2^64
  if (offset - kReservedShared < kReservedSharedBytes)
    return SharedOffset{offset - kReservedShared - kReservedSharedBytes};
  // Before the window's beginning or just before the block's own memory: in no block's memory.
  if (in_window >= kWindowSize / 2 || offset >= 0 - kReservedSharedBytes)
    return SharedOffset{offset & (kWindowSize - 1)};
  return SharedOffset{offset};
}

void shared_offsets(const jit::WarpContext& c, Lanes<GenericAddress> addresses, std::uint64_t* offsets) {
  std::uint64_t any = 0;
  for (unsigned l = 0; l < kWarpSize; ++l) any |= offsets[l] = raw(addresses[l]) & (kWindowSize - 1);
  if (any < kReservedShared && own_start(c) == 0) return;  // always the case without clusters
  for (unsigned l = 0; l < kWarpSize; ++l) offsets[l] = raw(shared_offset(c, addresses[l]));
}

void own_offsets(const jit::WarpContext& c, const std::uint64_t* written, std::uint64_t* offsets) {
  std::uint64_t any = 0;
  for (unsigned l = 0; l < kWarpSize; ++l) any |= offsets[l] = written[l];
  if (any < kReservedShared) return;
  for (unsigned l = 0; l < kWarpSize; ++l)
    offsets[l] = raw(shared_offset(c, GenericAddress{written[l] + own_start(c)}));
}

bool read_stretch(jit::WarpContext& context, std::uint32_t site, unsigned lane, GenericAddress from, void* out,
                  std::uint64_t bytes) {
  std::uint64_t addresses[kWarpSize] = {};
  std::uint32_t sizes[kWarpSize] = {};
  Access a;
  const auto place = pass_stretch(context, site, lane, from, bytes, AccessType::load, &a, addresses, sizes);
  if (place) move_stretch(a, *place, lane, static_cast<std::uint8_t*>(out), bytes);
  return place.has_value();
}

bool write_stretch(jit::WarpContext& context, std::uint32_t site, unsigned lane, GenericAddress to, const void* in,
                   std::uint64_t bytes) {
  std::uint64_t addresses[kWarpSize] = {};
  std::uint32_t sizes[kWarpSize] = {};
  Access a;
  const auto place = pass_stretch(context, site, lane, to, bytes, AccessType::store, &a, addresses, sizes);
  if (place) move_stretch(a, *place, lane, static_cast<std::uint8_t*>(const_cast<void*>(in)), bytes);
  return place.has_value();
}

}  // namespace warpgrind::device
