// Preparation of textures for vector reads (LaneSampler), and the choice of AVX2 or AVX-512.
#include "device/calls/texture_lanes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/sanitizers.h"
#include "base/vectors.h"
#include "device/memory/texture_filter.h"
#include "device/memory/texture_format.h"

#define WG_FOR_VECTORS "device/calls/texture_lanes.inc"
#include "base/for_vectors.inc"

namespace warpgrind::device {

namespace {

using jit::TextureCall;
using Kind = LaneSampler::Kind;

constexpr std::uint64_t kLargest = (1ull << 31) - 512;  // bytes: offsets are ints
constexpr float kFarthest = 0x1p21f;                    // texels: up to here a 256th of a texel is exact, and an int

// Order of gather4() in texture.cpp: (-,+) (+,+) (+,-) (-,-).
constexpr std::uint8_t kGathered[] = {2, 3, 1, 0};

bool is_cube(TextureGeometry g) {
  return g == TextureGeometry::cube || g == TextureGeometry::acube;
}
bool is_layered(TextureGeometry g) {
  return g == TextureGeometry::a1d || g == TextureGeometry::a2d || g == TextureGeometry::acube;
}

// Sets the meaning of the channels; false: channels of different widths, or sRGB.
bool find_meaning(const Texture& t, LaneSampler& s) {
  const ChannelFormat& f = t.format();
  s.bits = f.bits[0];
  s.channels = static_cast<std::uint8_t>(f.channels());
  for (unsigned k = 0; k < 4; ++k)
    if (f.bits[k] != (k < s.channels ? s.bits : 0)) return false;
  if (s.channels == 0 || s.channels == 3 || t.description.srgb) return false;
  const bool has_sign = f.kind == ChannelFormat::Kind::signed_integer;
  if (f.kind == ChannelFormat::Kind::floating)
    s.meaning = s.bits == 32 ? ChannelMeaning::word : ChannelMeaning::half;
  else if (t.description.normalized_float)
    s.meaning = has_sign ? ChannelMeaning::signed_unit : ChannelMeaning::unsigned_unit;
  else
    s.meaning = s.bits == 32 ? ChannelMeaning::word
                             : (has_sign ? ChannelMeaning::signed_integer : ChannelMeaning::unsigned_integer);
  return s.bits != 32 || s.meaning == ChannelMeaning::word;
}

// Same for the kind of read, from texture and instruction.
bool find_kind(const Texture& t, const TextureCall& call, LaneSampler& s) {
  const bool linear = t.description.linear_filter && gives_floats(t);
  s.kind = call.gather ? Kind::gather : call.integer_coordinates ? Kind::fetch : linear ? Kind::linear : Kind::point;
  s.flushes = call.gather && gives_floats(t);
  switch (s.kind) {
    case Kind::gather:
      s.component = call.component & 3;
      s.corners = 4;
      std::copy(std::begin(kGathered), std::end(kGathered), s.corner);
      return s.axes == 2 && s.component < s.channels;
    case Kind::fetch:
      return !s.cube;
    case Kind::linear:
      // The hardware filters a 1D texture as a 2D one of one row: half of the result then comes from the border.
      if (call.geometry == TextureGeometry::d1 && t.description.address[1] == AddressMode::border) return false;
      s.corners = static_cast<std::uint8_t>(1 << s.axes);
      return s.meaning != ChannelMeaning::half;
    default:
      return true;
  }
}

// nullopt: rows do not begin at a sector, or texels cross sectors.
std::optional<SectorGrid> grid_of(const TexelPlane& p) {
  SectorGrid g;
  g.byte_shift = static_cast<unsigned>(std::countr_zero(p.bytes));
  g.rows = static_cast<std::int32_t>(p.tiled ? p.tile_rows : static_cast<std::uint64_t>(p.size[1]));
  g.slices = static_cast<std::int32_t>(p.size[2]);
  if (p.tiled) {
    g.column_shift = std::countr_zero(TexelPlane::kTileBytes);
    g.row_shift = std::countr_zero(TexelPlane::kTileRows);
    g.columns = static_cast<std::int32_t>(p.tiles);
    return g;
  }
  constexpr std::uint64_t kSector = 32;
  const std::uint64_t skew = reinterpret_cast<std::uint64_t>(p.data) & 127;
  if (skew % p.bytes != 0) return std::nullopt;
  g.skew = static_cast<std::int32_t>(skew / p.bytes);
  g.columns = static_cast<std::int32_t>(p.row_bytes / kSector);
  const bool apart = g.slices == 1 || p.slice_bytes == p.row_bytes * static_cast<std::uint64_t>(p.size[1]);
  if (g.rows * g.slices != 1 && (p.row_bytes % kSector != 0 || !apart)) return std::nullopt;
  return g;
}

void find_axes(const Texture& t, LaneSampler& s) {
  s.normalized = t.description.normalized_coordinates || s.cube;
  for (unsigned d = 0; d < s.axes; ++d) {
    s.size[d] = static_cast<std::int32_t>(s.plane.size[d]);
    AddressMode& mode = s.mode[d] = t.description.address[d];
    if (!s.normalized && (mode == AddressMode::wrap || mode == AddressMode::mirror)) mode = AddressMode::clamp;
    s.borders |= mode == AddressMode::border;
    // Normalised coordinates in units of 2^-21 must fit into an int.
    s.farthest[d] = s.normalized ? std::min(0x1p10f, kFarthest / 2 / static_cast<float>(s.size[d])) : kFarthest;
  }
}

// Border colour in the filter's unit.
std::int32_t filtered_colour(const LaneSampler& s, std::uint32_t bits) {
  const double whole = s.meaning == ChannelMeaning::unsigned_unit ? 65535 : s.bits == 8 ? 127 : 32767;
  return static_cast<std::int32_t>(std::lround(double{std::bit_cast<float>(bits)} * whole));
}

}  // namespace

unsigned lanes_per_request(const TextureCall& call, unsigned bytes) {
  const bool flat = call.geometry == TextureGeometry::d1 && call.integer_coordinates;
  return flat && bytes < 16 ? 8 : 4;
}

LaneSampler::LaneSampler(const Texture& t, const TextureCall& call) : plane(t) {
  cube = is_cube(call.geometry);
  layered = is_layered(call.geometry);
  axes = call.geometry == TextureGeometry::d3 ? 3 : jit::step_size(call.geometry) == 1 ? 1 : 2;
  const std::uint64_t bytes = t.format().bytes();
  const std::uint64_t rows = static_cast<std::uint64_t>(plane.size[1] - 1) * plane.row_bytes,
                      held = static_cast<std::uint64_t>(plane.size[2] - 1) * plane.slice_bytes + rows +
                             static_cast<std::uint64_t>(plane.size[0]) * bytes,
                      // Memory of an array ends with a page.
      readable = t.resource.array ? std::max<std::uint64_t>(held, 4) : held;
  if (plane.size[0] <= 0 || plane.size[1] <= 0 || plane.size[2] <= 0 || plane.stretch() > kLargest) return;
  const bool has_levels = call.detail != jit::TextureDetail::base && !t.levels.empty();
  if (has_levels || readable < 4 || !find_meaning(t, *this) || !find_kind(t, call, *this)) {
    kind = Kind::none;
    return;
  }
  slices = axes == 3 ? 1 : static_cast<std::int32_t>(plane.size[2]);
  grid = grid_of(plane);
  group = static_cast<std::uint8_t>(lanes_per_request(call, static_cast<unsigned>(bytes)));
  last_word = static_cast<std::int32_t>(readable - 4);
  find_axes(t, *this);
  if (kind == Kind::fetch) return;
  const Texel border = border_texel(t);
  const bool filters = meaning == ChannelMeaning::unsigned_unit || meaning == ChannelMeaning::signed_unit;
  for (unsigned k = 0; k < channels; ++k) {
    outside[k] = border.channel[k];
    if (filters) filtered_outside[k] = filtered_colour(*this, outside[k]);
  }
}

bool LaneSampler::read(const std::uint32_t* coordinates, LaneMask mask, std::uint32_t* out, LaneTexels& texels,
                       bool wide) const {
  texels.plane = &plane;
  texels.grid = grid ? &*grid : nullptr;
  texels.axes = axes;
  texels.group = group;
  texels.corners = corners;
  texels.corner = corner;
  const NotWatched guard;
  return (wide ? avx512::read_texels : avx2::read_texels)(*this, coordinates, mask, out, texels);
}

}  // namespace warpgrind::device
