// The texture functions and queries that machine code calls.
#include "device/memory/texture.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/assert.h"
#include "base/sanitizers.h"
#include "device/access/access.h"
#include "device/calls/texture_handles.h"
#include "device/calls/texture_levels.h"
#include "device/calls/texture_unit.h"
#include "device/fault.h"
#include "device/symbols.h"
#include "jit/texture_operation.h"

namespace warpgrind::device {

void raise_if(jit::WarpContext& w, std::uint32_t site, const Refusal& r) {
  switch (r.why) {
    case Refusal::Why::none:
      return;
    case Refusal::Why::no_texture:
    case Refusal::Why::no_surface:
      raise(w, site, r.lane, FaultKind::invalid_texture,
            fmt::format("{:#x} is not a valid {} object", r.handle,
                        r.why == Refusal::Why::no_texture ? "texture" : "surface"),
            "pass an object that exists while the kernel runs", r.handle, 0);
    case Refusal::Why::freed:
      raise(w, site, r.lane, FaultKind::illegal_address, describe_address("texture read", r.handle, r.bytes),
            "keep the texture's memory allocated while kernels use it", r.handle, 0);
    case Refusal::Why::outside:
      raise(w, site, r.lane, FaultKind::illegal_address,
            fmt::format("surface access at ({}, {}, {}) outside {} bytes x {} x {}", r.at[0], r.at[1], r.at[2],
                        r.extent[0], r.extent[1], r.extent[2]),
            r.at[0] < 0 ? "check the coordinates: a negative x lies before the beginning of the row"
                        : "x is a byte offset in surface functions: multiply the index by the element size",
            0, static_cast<std::uint32_t>(r.bytes));
  }
}

namespace {

using jit::TextureCall;

// Cache of the last texture: lanes mostly have the handle of the previous lane.
class LastTexture {
 public:
  const Texture* get(std::uint64_t handle) {
    if (handle != handle_ || !texture_) {
      texture_ = find_texture(handle);
      handle_ = handle;
    }
    return texture_.get();
  }

 private:
  std::uint64_t handle_ = 0;
  std::shared_ptr<const Texture> texture_;
};

Texel read_texels(const Texture& t, const TextureCall& call, const std::uint32_t* coordinates, unsigned lane,
                  TexelList* read) {
  const NotWatched guard;
  const bool layered = call.geometry == TextureGeometry::a1d || call.geometry == TextureGeometry::a2d ||
                       call.geometry == TextureGeometry::acube;
  const std::int32_t layer = layered ? static_cast<std::int32_t>(coordinates[lane]) : 0;
  float f[3] = {0, 0, 0};
  std::int32_t n[3] = {0, 0, 0};
  const unsigned first = layered ? 1 : 0;
  WG_DEBUG_ASSERT(lane < kWarpSize && call.coordinates <= 4);
  for (unsigned c = first; c < call.coordinates && c - first < 3; ++c) {
    const std::uint32_t raw = coordinates[c * kWarpSize + lane];
    n[c - first] = static_cast<std::int32_t>(raw);
    f[c - first] = std::bit_cast<float>(raw);
  }
  if (call.detail == jit::TextureDetail::level) {
    const std::uint32_t raw = coordinates[call.coordinates * kWarpSize + lane];
    return call.integer_coordinates ? fetch_level(t, call.geometry, n, layer, static_cast<std::int32_t>(raw), read)
                                    : sample_level(t, call.geometry, f, layer, std::bit_cast<float>(raw), read);
  }
  if (call.detail == jit::TextureDetail::gradients && !call.integer_coordinates) {
    float steps[2][3] = {};
    const unsigned size = jit::step_size(call.geometry);
    for (unsigned k = 0; k < 2 * size; ++k)
      steps[k / size][k % size] = std::bit_cast<float>(coordinates[(call.coordinates + k) * kWarpSize + lane]);
    return sample_level(t, call.geometry, f, layer, level_of_gradients(t, call.geometry, steps[0], steps[1]), read);
  }
  return call.gather                ? gather4(t, call.geometry, f, layer, call.component, read)
         : call.integer_coordinates ? fetch(t, call.geometry, n, layer, read)
                                    : sample(t, call.geometry, f, layer, read);
}

// Returns null if lanes have different handles, or must be read one by one for another reason.
const BoundTexture* find_bound(Worker& worker, std::uint32_t code, const Handles& handles, LaneMask mask) {
  const std::uint64_t* const handle = handles.only(mask);
  if (!handle) return nullptr;
  const BoundTexture* const bound = unit_of(worker).find(*worker.launch, *handle, code);
  return bound && (bound->sampler.kind != LaneSampler::Kind::none || !bound->levels.empty()) ? bound : nullptr;
}

Refusal read_each(jit::WarpContext& w, std::uint32_t site, const TextureCall& call, const Handles& handles,
                  const std::uint32_t* coordinates, LaneMask mask, std::uint32_t* out) {
  LastTexture last;
  const Launch& launch = launch_of(w);
  const Texture* checked = nullptr;
  Texels texels;
  unsigned bytes = 4;
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(m));
    const Texture* t = last.get(handles.of(l));
    Refusal refusal{Refusal::Why::no_texture, l, handles.of(l)};
    if (!t) return refusal;
    if (t != checked && !still_allocated(launch, *t)) {
      refusal.why = Refusal::Why::freed;
      refusal.handle = t->resource.address;
      refusal.bytes = linear_bytes(*t);
      return refusal;
    }
    checked = t;
    TexelList read;
    const Texel x = read_texels(*t, call, coordinates, l, &read);
    for (unsigned k = 0; k < 4; ++k) out[k * kWarpSize + l] = x.channel[k];
    bytes = std::max(1u, t->format().bytes());
    for (unsigned k = 0; k < read.count; ++k) texels.add(l, read.at[k]);
  }
  pass_texels(texel_access(w, site, bytes, lanes_per_request(call, bytes)), mask, texels);
  return {};
}

bool read_levels_together(jit::WarpContext& w, std::uint32_t site, const BoundTexture& bound, const TextureCall& call,
                          const std::uint32_t* coordinates, LaneMask mask, std::uint32_t* out) {
  LevelTexels texels;
  if (!read_levels(*bound.texture, bound.levels, call, coordinates, mask, out, texels)) return false;
  if (texels.count != 0) {
    pass_texels(w, site, mask, {texels.planes, texels.count});
  } else {
    const auto bytes = static_cast<unsigned>(bound.sampler.plane.bytes);
    pass_texels(texel_access(w, site, bytes, lanes_per_request(call, bytes)), mask, texels.by_lanes);
  }
  return true;
}

// Reads for all lanes at once; false: not possible.
bool read_together(jit::WarpContext& w, std::uint32_t site, std::uint32_t code, const Handles& handles,
                   const std::uint32_t* coordinates, LaneMask mask, std::uint32_t* out) {
  const BoundTexture* const bound = find_bound(worker_of(w), code, handles, mask);
  if (!bound) return false;
  if (!bound->levels.empty())
    return read_levels_together(w, site, *bound, TextureCall::decode(code), coordinates, mask, out);
  LaneTexels texels;
  if (!bound->sampler.read(coordinates, mask, out, texels)) return false;
  pass_texels(w, site, mask, {&texels, 1});
  return true;
}

Refusal query(std::uint32_t what, bool surface, const std::uint64_t* handles, LaneMask mask, std::uint32_t* out) {
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(m));
    ArrayShape shape;
    bool normalized = false;
    std::size_t levels = 1;
    if (surface) {
      const auto s = find_surface(handles[l]);
      if (!s) return {Refusal::Why::no_surface, l, handles[l]};
      shape = s->array->shape();
    } else {
      const auto t = find_texture(handles[l]);
      if (!t) return {Refusal::Why::no_texture, l, handles[l]};
      normalized = t->description.normalized_coordinates;
      levels = std::max<std::size_t>(1, t->resource.levels.size());
      if (out[l] && out[l] < t->resource.levels.size())
        shape = t->resource.levels[out[l]]->shape();
      else if (t->resource.array)
        shape = t->resource.array->shape();
      else
        shape.width = t->resource.width, shape.height = t->resource.height;
    }
    const std::uint64_t answers[jit::kQueries] = {shape.width,
                                                  shape.height,
                                                  shape.layered ? 0 : shape.depth,
                                                  shape.layered ? shape.depth / (shape.cubemap ? 6 : 1) : 0,
                                                  levels,
                                                  normalized};
    out[l] = static_cast<std::uint32_t>(answers[what % jit::kQueries]);
  }
  return {};
}

}  // namespace
}  // namespace warpgrind::device

using namespace warpgrind;
using namespace warpgrind::device;
using warpgrind::jit::TextureCall;

extern "C" {

// coordinates[c*32 + l], then the operands that select the level; out[k*32 + l], k = 0..3
static void wg_texture(void* context, std::uint32_t site, std::uint32_t code, const std::uint64_t* handles,
                       const std::uint32_t* coordinates, std::uint32_t mask, std::uint32_t* out) {
  jit::WarpContext& w = warp(context);
  const TextureCall call = TextureCall::decode(code);
  const Handles of_lanes{handles, call.one_handle};
  if (read_together(w, site, code, of_lanes, coordinates, mask, out)) return;
  raise_if(w, site, read_each(w, site, call, of_lanes, coordinates, mask, out));
}

// out[l]: in: the level of the query; out: the result
static void wg_texture_query(void* context, std::uint32_t site, std::uint32_t what, std::uint32_t surface,
                             const std::uint64_t* handles, std::uint32_t mask, std::uint32_t* out) {
  raise_if(warp(context), site, query(what, surface != 0, handles, mask, out));
}

}  // extern "C"

namespace warpgrind::device {

std::span<const jit::CallSymbol> texture_symbols() {
  static const jit::CallSymbol symbols[] = {{"wg_texture", reinterpret_cast<void*>(&wg_texture)},
                                            {"wg_texture_query", reinterpret_cast<void*>(&wg_texture_query)}};
  return symbols;
}

}  // namespace warpgrind::device
