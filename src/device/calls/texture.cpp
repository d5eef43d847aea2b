// The texture and surface functions that machine code calls.
#include "device/memory/texture.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "device/calls/memory_access.h"
#include "device/calls/symbols.h"
#include "device/fault.h"
#include "jit/families/texture_operation.h"

namespace warpgrind::device {

namespace {

using jit::TextureCall;

// Kernels use the same few handles over and over.
template <class T, std::shared_ptr<const T> (*find)(std::uint64_t)>
class LastHandle {
 public:
  const T* get(std::uint64_t handle) {
    if (handle != handle_ || !object_) {
      object_ = find(handle);
      handle_ = handle;
    }
    return object_.get();
  }

 private:
  std::uint64_t handle_ = 0;
  std::shared_ptr<const T> object_;
};

[[noreturn]] void invalid(jit::WarpContext& w, std::uint32_t site, unsigned lane, std::uint64_t handle,
                          const char* what) {
  raise(w, site, lane, FaultKind::invalid_texture, fmt::format("{:#x} is not a {} object", handle, what),
        "pass an object that was created and not destroyed before the kernel ran", handle, 0);
}

// Linear memory may have been freed since.
void check_linear(jit::WarpContext& w, std::uint32_t site, unsigned lane, const Texture& t) {
  const TextureResource& r = t.resource;
  if (r.kind == TextureResource::Kind::array) return;
  const std::uint64_t bytes = r.kind == TextureResource::Kind::linear
                                  ? r.width * r.format.bytes()
                                  : r.pitch * (r.height ? r.height - 1 : 0) + r.width * r.format.bytes();
  if (!checked_pointer(w, r.address, std::max<std::uint64_t>(1, bytes), false))
    raise(w, site, lane, FaultKind::illegal_address, describe_address("texture read", r.address, bytes),
          "the memory of a texture must stay allocated while kernels use it", r.address, 0);
}

// Lanes that make one request: 8 neighbours of a 1D fetch (4 of 16-byte texels), a quad otherwise (measured:
// docs/counters.md).
unsigned lanes_per_request(const TextureCall& call, unsigned bytes) {
  const bool flat = call.geometry == TextureGeometry::d1 && call.integer_coordinates;
  return flat && bytes < 16 ? 8 : 4;
}

void count(jit::WarpContext& w, std::uint32_t site, const TextureCall& call, const std::uint64_t* addresses,
           LaneMask mask, unsigned bytes) {
  const unsigned group = lanes_per_request(call, bytes);
  for (unsigned first = 0; first < kWarpSize; first += group) {
    const LaneMask lanes = mask & (((LaneMask{1} << group) - 1) << first);
    if (lanes) count_access(w, site, StateSpace::global, addresses, lanes, bytes, AccessType::load);
  }
}

struct Surfel {
  std::uint8_t* at = nullptr;  // null: outside
};

// x in bytes; y, z and layer in elements. Clamp moves to the edge, zero drops, trap is a fault.
Surfel surface_address(jit::WarpContext& w, std::uint32_t site, unsigned lane, const Surface& s,
                       const TextureCall& call, const std::int32_t* c, unsigned bytes) {
  Array& a = *s.array;
  const ArrayShape& shape = a.shape();
  std::int64_t at[3] = {c[0], 0, 0};
  const bool layered = call.geometry == TextureGeometry::a1d || call.geometry == TextureGeometry::a2d;
  if (layered) {
    at[2] = c[0];
    at[0] = c[1];
    if (call.geometry == TextureGeometry::a2d) at[1] = c[2];
  } else {
    if (call.geometry != TextureGeometry::d1) at[1] = c[1];
    if (call.geometry == TextureGeometry::d3) at[2] = c[2];
  }
  const std::int64_t limit[3] = {static_cast<std::int64_t>(a.row_bytes()) - bytes,
                                 static_cast<std::int64_t>(shape.rows()) - 1,
                                 static_cast<std::int64_t>(shape.slices()) - 1};
  for (unsigned d = 0; d < 3; ++d) {
    if (at[d] >= 0 && at[d] <= limit[d]) continue;
    if (call.boundary == jit::SurfaceBoundary::clamp)
      at[d] = std::clamp<std::int64_t>(at[d], 0, std::max<std::int64_t>(0, limit[d]));
    else if (call.boundary == jit::SurfaceBoundary::zero)
      return {};
    else
      raise(w, site, lane, FaultKind::illegal_address,
            fmt::format("surface access at ({}, {}, {}) outside {} bytes x {} x {}", at[0], at[1], at[2], a.row_bytes(),
                        shape.rows(), shape.slices()),
            "x is a byte offset in surface functions: multiply the index by the element's size", 0, bytes);
  }
  return {a.data() + static_cast<std::uint64_t>(at[2]) * a.slice_bytes() +
          static_cast<std::uint64_t>(at[1]) * a.row_bytes() + static_cast<std::uint64_t>(at[0])};
}

}  // namespace
}  // namespace warpgrind::device

using namespace warpgrind;
using namespace warpgrind::device;
using warpgrind::jit::TextureCall;

extern "C" {

// coordinates[c*32 + l]; out[k*32 + l], k = 0..3
static void wg_texture(void* context, std::uint32_t site, std::uint32_t code, const std::uint64_t* handles,
                       const std::uint32_t* coordinates, std::uint32_t mask, std::uint32_t* out) {
  jit::WarpContext& w = warp(context);
  const TextureCall call = TextureCall::decode(code);
  LastHandle<Texture, find_texture> last;
  std::uint64_t addresses[kWarpSize] = {};
  LaneMask inside = 0;
  unsigned bytes = 4;
  const Texture* checked = nullptr;
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(m));
    const Texture* t = last.get(handles[l]);
    if (!t) invalid(w, site, l, handles[l], "texture");
    if (t != checked) check_linear(w, site, l, *t);
    checked = t;
    const bool layered = call.geometry == TextureGeometry::a1d || call.geometry == TextureGeometry::a2d ||
                         call.geometry == TextureGeometry::acube;
    std::int32_t layer = 0;
    float f[3] = {0, 0, 0};
    std::int32_t n[3] = {0, 0, 0};
    const unsigned first = layered ? 1 : 0;
    if (layered) layer = static_cast<std::int32_t>(coordinates[l]);
    for (unsigned c = first; c < call.coordinates && c - first < 3; ++c) {
      const std::uint32_t raw = coordinates[c * kWarpSize + l];
      n[c - first] = static_cast<std::int32_t>(raw);
      f[c - first] = call.integer_coordinates ? static_cast<float>(n[c - first]) : std::bit_cast<float>(raw);
    }
    const Texel x = call.gather                ? gather4(*t, call.geometry, f, layer, call.component)
                    : call.integer_coordinates ? fetch(*t, call.geometry, n, layer)
                                               : sample(*t, call.geometry, f, layer);
    for (unsigned k = 0; k < 4; ++k) out[k * kWarpSize + l] = x.channel[k];
    bytes = std::max(1u, t->format().bytes());
    if (call.integer_coordinates && call.geometry == TextureGeometry::d1 &&
        t->resource.kind == TextureResource::Kind::linear)
      addresses[l] = static_cast<std::uint64_t>(n[0]) < t->resource.width
                         ? t->resource.address + static_cast<std::uint64_t>(n[0]) * bytes
                         : 0;
    else
      addresses[l] = texel_address(*t, call.geometry, f, layer);
    if (addresses[l]) inside |= 1u << l;
  }
  count(w, site, call, addresses, inside, bytes);
}

static void wg_texture_query(void* context, std::uint32_t site, std::uint32_t what, std::uint32_t surface,
                             const std::uint64_t* handles, std::uint32_t mask, std::uint32_t* out) {
  jit::WarpContext& w = warp(context);
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(m));
    ArrayShape shape;
    bool normalized = false;
    if (surface) {
      const auto s = find_surface(handles[l]);
      if (!s) invalid(w, site, l, handles[l], "surface");
      shape = s->array->shape();
    } else {
      const auto t = find_texture(handles[l]);
      if (!t) invalid(w, site, l, handles[l], "texture");
      normalized = t->description.normalized_coordinates;
      if (t->resource.array)
        shape = t->resource.array->shape();
      else
        shape.width = t->resource.width, shape.height = t->resource.height;
    }
    const std::uint64_t answers[jit::kQueries] = {shape.width,
                                                  shape.height,
                                                  shape.layered ? 0 : shape.depth,
                                                  shape.layered ? shape.depth / (shape.cubemap ? 6 : 1) : 0,
                                                  1,
                                                  normalized};
    out[l] = static_cast<std::uint32_t>(answers[what % jit::kQueries]);
  }
}

// data[e*32 + l] of `bytes` each
static void wg_surface(void* context, std::uint32_t site, std::uint32_t code, const std::uint64_t* handles,
                       const std::uint32_t* coordinates, std::uint32_t mask, std::uint32_t store, void* data) {
  jit::WarpContext& w = warp(context);
  const TextureCall call = TextureCall::decode(code);
  const SiteFacts& facts = launch_of(w).kernel->sites[site];
  const unsigned element = facts.element, count_elements = facts.vector, bytes = element * count_elements;
  LastHandle<Surface, find_surface> last;
  std::uint64_t addresses[kWarpSize] = {};
  LaneMask inside = 0;
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(m));
    const Surface* s = last.get(handles[l]);
    if (!s) invalid(w, site, l, handles[l], "surface");
    std::int32_t c[3] = {0, 0, 0};
    for (unsigned k = 0; k < call.coordinates && k < 3; ++k)
      c[k] = static_cast<std::int32_t>(coordinates[k * kWarpSize + l]);
    const Surfel at = surface_address(w, site, l, *s, call, c, bytes);
    for (unsigned e = 0; e < count_elements; ++e) {
      std::uint8_t* lane = static_cast<std::uint8_t*>(data) + (std::size_t{e} * kWarpSize + l) * element;
      if (store && at.at) std::memcpy(at.at + e * element, lane, element);
      if (!store && at.at) std::memcpy(lane, at.at + e * element, element);
      if (!store && !at.at) std::memset(lane, 0, element);
    }
    if (at.at) addresses[l] = reinterpret_cast<std::uint64_t>(at.at), inside |= 1u << l;
  }
  if (inside)
    count_access(w, site, StateSpace::global, addresses, inside, bytes, store ? AccessType::store : AccessType::load);
}

}  // extern "C"

namespace warpgrind::device {

std::span<const jit::CallSymbol> texture_symbols() {
  static const jit::CallSymbol symbols[] = {{"wg_texture", reinterpret_cast<void*>(&wg_texture)},
                                            {"wg_texture_query", reinterpret_cast<void*>(&wg_texture_query)},
                                            {"wg_surface", reinterpret_cast<void*>(&wg_surface)}};
  return symbols;
}

}  // namespace warpgrind::device
