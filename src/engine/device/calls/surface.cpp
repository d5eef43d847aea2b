// The surface functions that machine code calls: loads, stores and reductions of elements of arrays.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "base/sanitizers.h"
#include "device/access/access.h"
#include "device/calls/atomics.h"
#include "device/calls/texture_handles.h"
#include "device/fault.h"
#include "device/symbols.h"
#include "jit/atomic_operation.h"
#include "jit/texture_operation.h"

namespace warpgrind::device {

namespace {

using jit::TextureCall;

// Surface elements of the lanes. Lanes outside have no valid element.
struct Surfels {
  alignas(64) std::uint64_t addresses[kWarpSize];
  LaneMask outside = 0;
};

// Finds the addresses. x is in bytes (TextureCall::in_values: in values); y, z and layer are in elements. Lanes outside
// get the address at the edge.
void find_surfels(Array& a, const TextureCall& call, const std::uint32_t* coordinates, unsigned bytes, LaneMask mask,
                  Surfels& to) {
  const ArrayShape& shape = a.shape();
  const bool layered = call.geometry == TextureGeometry::a1d || call.geometry == TextureGeometry::a2d;
  const bool flat = call.geometry == TextureGeometry::d1 || call.geometry == TextureGeometry::a1d;
  struct Axis {
    std::int64_t last, bytes;
    bool there;
    unsigned coordinate;
    std::int64_t unit = 1;
  };
  const Axis axes[] = {
      {static_cast<std::int64_t>(a.row_bytes()) - bytes, 1, true, layered ? 1u : 0u,
       call.in_values ? std::int64_t{bytes} : 1},
      {static_cast<std::int64_t>(shape.rows()) - 1, static_cast<std::int64_t>(a.row_bytes()), !flat, layered ? 2u : 1u},
      {static_cast<std::int64_t>(shape.slices()) - 1, static_cast<std::int64_t>(a.slice_bytes()),
       layered || call.geometry == TextureGeometry::d3, layered ? 0u : 2u}};
  alignas(64) std::int64_t offset[kWarpSize] = {}, outside[kWarpSize] = {};
  for (const Axis& axis : axes) {
    const std::int64_t edge = std::max<std::int64_t>(0, axis.last);
    if (!axis.there) continue;
    const std::uint32_t* const words = coordinates + std::size_t{axis.coordinate} * kWarpSize;
    for (unsigned l = 0; l < kWarpSize; ++l) {
      const std::int64_t at = std::int64_t{static_cast<std::int32_t>(words[l])} * axis.unit;
      outside[l] |= at | (axis.last - at);  // negative: outside
      offset[l] += (at < 0 ? 0 : at > edge ? edge : at) * axis.bytes;
    }
  }
  const auto first = reinterpret_cast<std::uint64_t>(a.data());
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(m));
    to.addresses[l] = first + static_cast<std::uint64_t>(offset[l]);
    to.outside |= static_cast<LaneMask>(outside[l] < 0) << l;
  }
}

Refusal refuse_outside(const Array& a, const TextureCall& call, const std::uint32_t* coordinates, unsigned bytes,
                       unsigned lane) {
  Refusal r{Refusal::Why::outside, lane};
  r.bytes = bytes;
  const auto at = [&](unsigned k) {
    return std::int64_t{static_cast<std::int32_t>(coordinates[k * kWarpSize + lane])};
  };
  const bool layered = call.geometry == TextureGeometry::a1d || call.geometry == TextureGeometry::a2d;
  const unsigned first = layered ? 1 : 0;
  for (unsigned k = first; k < call.coordinates && k < 3; ++k) r.at[k - first] = at(k);
  if (layered) r.at[2] = at(0);
  const std::uint64_t extent[3] = {a.row_bytes(), a.shape().rows(), a.shape().slices()};
  std::copy(std::begin(extent), std::end(extent), r.extent);
  return r;
}

// data[e*32 + l]. Surface elements outside read as zero and are not written.
template <class T>
void move_surfels(const Access& a, LaneMask mask, LaneMask inside, const std::optional<Place>& place, void* data) {
  const NotWatched guard;
  auto* const values = static_cast<T*>(data);
  for (unsigned e = 0; e < a.vector; ++e) {
    T* const lanes = values + std::size_t{e} * kWarpSize;
    for (LaneMask m = mask; m != 0; m &= m - 1) {
      const auto l = static_cast<unsigned>(std::countr_zero(m));
      if ((inside >> l & 1) == 0) {
        if (!a.writes()) lanes[l] = 0;
        continue;
      }
      std::uint8_t* const surfel = place->of(l) + e * sizeof(T);
      a.writes() ? std::memcpy(surfel, lanes + l, sizeof(T)) : std::memcpy(lanes + l, surfel, sizeof(T));
    }
  }
}

// Whether an array has the dimensions of a reduction's geometry. On an H200, nothing of another array is inside.
bool has_geometry(const Array& a, TextureGeometry geometry) {
  const ArrayShape& shape = a.shape();
  if (geometry == TextureGeometry::d1) return shape.height == 0;
  return geometry == TextureGeometry::d3 ? shape.depth != 0 && !shape.layered : shape.height != 0;
}

// Lanes after pass().
struct Passed {
  Access access;
  LaneMask inside;  // lanes that have an element, or its nearest one
  std::optional<Place> place;
};

// Finds and passes the elements of all lanes, then calls move(passed). found(surface, lanes) sees each surface before.
template <class Found, class Move>
Refusal access_surfaces(const Access& access, const TextureCall& call, const Handles& handles,
                        const std::uint32_t* coordinates, LaneMask mask, Found&& found, Move&& move) {
  Surfels surfels;
  for (LaneMask rest = mask; rest != 0;) {  // mostly of one surface
    const auto first = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint64_t handle = handles.of(first);
    LaneMask lanes = handles.one ? rest : 0;
    for (LaneMask m = handles.one ? 0 : rest; m != 0; m &= m - 1)
      if (handles.of(static_cast<unsigned>(std::countr_zero(m))) == handle) lanes |= m & (~m + 1);
    rest &= ~lanes;
    const Surface* const s = unit_of(worker_of(*access.context)).surface(handle);
    if (!s) return {Refusal::Why::no_surface, first, handle};
    find_surfels(*s->array, call, coordinates, access.bytes(), lanes, surfels);
    const bool reduces = access.form.type == AccessType::reduction;
    if (reduces && call.boundary != jit::SurfaceBoundary::clamp && !has_geometry(*s->array, call.geometry))
      surfels.outside |= lanes;
    if (surfels.outside != 0 && call.boundary == jit::SurfaceBoundary::trap)
      return refuse_outside(*s->array, call, coordinates, access.bytes(),
                            static_cast<unsigned>(std::countr_zero(surfels.outside)));
    found(*s, lanes);
  }
  const LaneMask inside = call.boundary == jit::SurfaceBoundary::zero ? mask & ~surfels.outside : mask;
  Passed passed{access.at_texels(surfels.addresses, inside), inside, std::nullopt};
  if (inside) passed.place = pass(passed.access);
  move(passed);
  return {};
}

void move_lanes(const Passed& p, LaneMask mask, void* data) {
  switch (p.access.element) {
    case 1:
      return move_surfels<std::uint8_t>(p.access, mask, p.inside, p.place, data);
    case 2:
      return move_surfels<std::uint16_t>(p.access, mask, p.inside, p.place, data);
    case 4:
      return move_surfels<std::uint32_t>(p.access, mask, p.inside, p.place, data);
    default:
      return move_surfels<std::uint64_t>(p.access, mask, p.inside, p.place, data);
  }
}

// Operand type of a reduction. sured.p gives only a width; the surface's format decides whether values have a sign.
std::uint32_t reduction_code(std::uint32_t written, bool is_signed) {
  using ptx::ScalarType;
  const bool wide = ptx::bits(static_cast<ScalarType>(written >> 8 & 0xff)) == 64;
  const ScalarType type = is_signed ? wide ? ScalarType::s64 : ScalarType::s32
                          : wide    ? ScalarType::u64
                                    : ScalarType::u32;
  return jit::atomic_code(static_cast<jit::AtomicOperation>(written & 0xff), type);
}

// The offset must be a multiple of the value's size, outside the surface too, where .trap has not ended the kernel
// before (H200).
void raise_if_misaligned(jit::WarpContext& w, std::uint32_t site, const std::uint32_t* x, LaneMask mask,
                         std::uint32_t bytes) {
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(m));
    if (x[l] % bytes == 0) continue;
    raise(w, site, l, FaultKind::misaligned_address,
          fmt::format("surface reduction of {} bytes at x = {}, which is not a multiple of {}", bytes,
                      static_cast<std::int32_t>(x[l]), bytes),
          "x is a byte offset in surface functions: multiply the index by the element size", 0, bytes);
  }
}

}  // namespace
}  // namespace warpgrind::device

using namespace warpgrind;
using namespace warpgrind::device;
using warpgrind::jit::TextureCall;

extern "C" {

// data[e*32 + l] of `bytes` each
static void wg_surface(void* context, std::uint32_t site, std::uint32_t code, const std::uint64_t* handles,
                       const std::uint32_t* coordinates, std::uint32_t mask, std::uint32_t store, void* data) {
  jit::WarpContext& w = warp(context);
  Access a = access_of(w, site);
  a.form.type = store ? AccessType::store : AccessType::load;
  a.path = events::AccessPath::surface;
  const TextureCall call = TextureCall::decode(code);
  const Refusal refusal = access_surfaces(
      a, call, {handles, call.one_handle}, coordinates, mask, [](const Surface&, LaneMask) {},
      [&](const Passed& passed) { move_lanes(passed, mask, data); });
  raise_if(w, site, refusal);
}

// operation: atomic_code() with the type as written; values[l]
static void wg_surface_reduction(void* context, std::uint32_t site, std::uint32_t code, const std::uint64_t* handles,
                                 const std::uint32_t* coordinates, std::uint32_t mask, std::uint32_t operation,
                                 const void* values) {
  if (mask == 0) return;
  jit::WarpContext& w = warp(context);
  Access a = access_of(w, site);
  a.form.type = AccessType::reduction;
  a.path = events::AccessPath::surface;
  const TextureCall call = TextureCall::decode(code);
  LaneMask with_sign = 0;
  const auto found = [&](const Surface& s, LaneMask lanes) {
    if (!call.in_values) raise_if_misaligned(w, site, coordinates, lanes, a.bytes());
    if (s.array->format().kind == ChannelFormat::Kind::signed_integer) with_sign |= lanes;
  };
  const auto reduce = [&](const Passed& p) {
    const auto apply = [&](LaneMask lanes, std::uint32_t as) {
      if (lanes) update_lanes(p.access, *p.place, 0, lanes, as, values);
    };
    if (!call.in_values) return apply(p.inside, operation);
    apply(p.inside & with_sign, reduction_code(operation, true));
    apply(p.inside & ~with_sign, reduction_code(operation, false));
  };
  raise_if(w, site, access_surfaces(a, call, {handles, call.one_handle}, coordinates, mask, found, reduce));
}

}  // extern "C"

namespace warpgrind::device {

std::span<const jit::CallSymbol> surface_symbols() {
  static const jit::CallSymbol symbols[] = {{"wg_surface", reinterpret_cast<void*>(&wg_surface)},
                                            {"wg_surface_reduction", reinterpret_cast<void*>(&wg_surface_reduction)}};
  return symbols;
}

}  // namespace warpgrind::device
