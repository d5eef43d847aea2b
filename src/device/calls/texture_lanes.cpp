#include "device/calls/texture_lanes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/cpu.h"
#include "base/sanitizers.h"
#include "device/memory/texel_plane.h"
#include "device/memory/texture_format.h"

namespace warpgrind::device {

namespace {

using jit::TextureCall;

constexpr unsigned kLanes = kWarpSize, kAxes = 2;
constexpr float kFarthest = 0x1p21f;                    // texels: so far a 256th of a texel is exact, and an int
constexpr std::uint64_t kLargest = (1ull << 31) - 512;  // bytes: offsets are ints

#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")
#pragma GCC optimize("O3", "no-trapping-math", "no-math-errno")

// std:: functions are compiled with other options, and so are not inlined here.
double floor(double v) {
  return __builtin_floor(v);
}
float floor(float v) {
  return __builtin_floorf(v);
}
double magnitude(double v) {
  return __builtin_fabs(v);
}
float magnitude(float v) {
  return __builtin_fabsf(v);
}

using Ints = std::int32_t[kLanes];

// By their signs.
LaneMask negative_lanes(const Ints& values) {
  LaneMask mask = 0;
  for (unsigned l = 0; l < kLanes; l += 8)
    mask |= static_cast<LaneMask>(_mm256_movemask_ps(_mm256_load_ps(reinterpret_cast<const float*>(values + l)))) << l;
  return mask;
}

// The texels around each lane's point: by axis the lower and the upper one, -1 outside. Of one texel the lower alone.
struct Corners {
  unsigned axes = 1, count = 1;
  alignas(64) Ints index[kAxes][2];
  alignas(64) Ints weight[kMostCorners];  // in 1/256
  alignas(64) Ints slice;
  alignas(64) Ints fraction[kAxes];  // in 1/256
  // The plane's bytes from its first to each texel read, 0 for all else; what counts, all bits or none; and that it
  // lies outside.
  alignas(64) Ints offset[kMostCorners], on[kMostCorners], outside[kMostCorners];
};

// The lower texel and, with linear filtering, the 256ths from its middle to the point. False: some lane is too far out.
bool find_low(const float* u, bool linear, Ints& low, Ints& fraction) {
  std::int32_t far = 0;
  for (unsigned l = 0; l < kLanes; ++l) far |= magnitude(u[l]) >= kFarthest ? 1 : 0;
  if (far) return false;
  if (!linear) {
    for (unsigned l = 0; l < kLanes; ++l) low[l] = static_cast<std::int32_t>(floor(u[l])), fraction[l] = 0;
    return true;
  }
  for (unsigned l = 0; l < kLanes; ++l) {  // floor(256 u - 127.5), each step exact
    const float x = u[l] * 256, whole = floor(x);
    const std::int32_t fixed = static_cast<std::int32_t>(whole) + (x - whole >= 0.5f ? 1 : 0) - 128;
    low[l] = fixed >> 8;
    fraction[l] = fixed & 255;
  }
  return true;
}

// Likewise, of coordinates from 0 to 1: they have 21 bits of fraction.
bool find_normalized_low(const float* u, double size, bool linear, Ints& low, Ints& fraction) {
  alignas(64) double p[kLanes];
  std::int64_t far = 0;
  for (unsigned l = 0; l < kLanes; ++l) {
    p[l] = floor(double{u[l]} * 0x1p21) * 0x1p-21 * size;
    far |= magnitude(p[l]) >= double{kFarthest} ? 1 : 0;
  }
  if (far) return false;
  for (unsigned l = 0; l < kLanes; ++l) {
    const auto fixed = static_cast<std::int32_t>(linear ? floor(p[l] * 256 - 127.5) : floor(p[l]));
    low[l] = linear ? fixed >> 8 : fixed;
    fraction[l] = linear ? fixed & 255 : 0;
  }
  return true;
}

// index is moved into [0, size) by the address mode; -1: border.
void place_indices(const Ints& index, std::int32_t upper, std::int32_t size, AddressMode mode, Ints& placed) {
  const auto each = [&](auto place) {
    for (unsigned l = 0; l < kLanes; ++l) placed[l] = place(index[l] + upper);
  };
  // Exact: the quotient of such small numbers is no nearer to a whole one than it can be told from it.
  const auto remainder = [](std::int32_t i, std::int32_t n) {
    return i - n * static_cast<std::int32_t>(floor(static_cast<double>(i) / n));
  };
  switch (mode) {
    case AddressMode::wrap:
      return each([&](std::int32_t i) { return remainder(i, size); });
    case AddressMode::mirror:
      return each([&](std::int32_t i) {
        const std::int32_t r = remainder(i, 2 * size);
        return r < size ? r : 2 * size - 1 - r;
      });
    case AddressMode::clamp:
      return each([&](std::int32_t i) { return i < 0 ? 0 : i > size - 1 ? size - 1 : i; });
    default:
      return each([&](std::int32_t i) { return i < 0 || i >= size ? -1 : i; });
  }
}

// What the sampler makes of the coordinates. False: a lane is too far out.
bool find_corners(const Texture& t, const TexelPlane& plane, const std::uint32_t* coordinates, LaneMask mask,
                  bool linear, Corners& c) {
  const TextureDescription& d = t.description;
  for (unsigned axis = 0; axis < c.axes; ++axis) {
    const auto size = static_cast<std::int32_t>(plane.size[axis]);
    AddressMode mode = d.address[axis];
    const bool repeats = mode == AddressMode::wrap || mode == AddressMode::mirror;
    if (repeats && !d.normalized_coordinates) mode = AddressMode::clamp;
    alignas(64) float u[kLanes];
    std::memcpy(u, coordinates + std::size_t{axis} * kLanes, sizeof u);
    for (unsigned l = 0; l < kLanes; ++l)
      // Not-a-number and subnormal coordinates are 0, as on an H200; what the other lanes' registers hold is nothing.
      u[l] = (mask >> l & 1) && magnitude(u[l]) >= 0x1p-126f ? u[l] : 0.0f;
    alignas(64) Ints low;
    if (!(d.normalized_coordinates ? find_normalized_low(u, size, linear, low, c.fraction[axis])
                                   : find_low(u, linear, low, c.fraction[axis])))
      return false;
    place_indices(low, 0, size, mode, c.index[axis][0]);
    if (linear) place_indices(low, 1, size, mode, c.index[axis][1]);
  }
  c.count = linear ? 1u << c.axes : 1;
  return true;
}

// texture_filter.cpp, filter_weights().
void find_weights(bool linear, Corners& c) {
  for (unsigned l = 0; l < kLanes; ++l) {
    const std::int32_t x = c.fraction[0][l], y = c.axes == 2 ? c.fraction[1][l] : 0, both = (x * y + 128) >> 8;
    c.weight[0][l] = 256 - x - y + both;
    if (!linear) continue;
    c.weight[1][l] = x - both;
    c.weight[2][l] = y - both;
    c.weight[3][l] = both;
  }
}

// Integer coordinates: no address mode, nothing outside.
void find_indices(const TexelPlane& plane, const std::uint32_t* coordinates, Corners& c) {
  for (unsigned axis = 0; axis < c.axes; ++axis)
    for (unsigned l = 0; l < kLanes; ++l) {
      const auto i = static_cast<std::int32_t>(coordinates[axis * kLanes + l]);
      c.index[axis][0][l] = i >= 0 && i < plane.size[axis] ? i : -1;
    }
}

// Reads of weight 0 are not made.
void find_texels(const TexelPlane& plane, LaneMask mask, Corners& c, LaneTexels& texels) {
  constexpr std::int32_t kTileBytes = TexelPlane::kTileBytes, kTileRows = TexelPlane::kTileRows,
                         kTileSize = kTileBytes * kTileRows;
  constexpr int kTileBytesShift = std::countr_zero(TexelPlane::kTileBytes),
                kTileRowsShift = std::countr_zero(TexelPlane::kTileRows);
  alignas(64) static constexpr Ints kNoRow = {};
  alignas(64) Ints asked, of_slice, tile_of_slice;
  const auto bytes = static_cast<std::int32_t>(plane.bytes), row_bytes = static_cast<std::int32_t>(plane.row_bytes),
             slice_bytes = static_cast<std::int32_t>(plane.slice_bytes), tiles = static_cast<std::int32_t>(plane.tiles),
             tile_rows = static_cast<std::int32_t>(plane.tile_rows), slices = static_cast<std::int32_t>(plane.size[2]);
  for (unsigned l = 0; l < kLanes; ++l) {
    const bool there = c.slice[l] >= 0 && c.slice[l] < slices;
    asked[l] = (mask >> l & 1) && there ? -1 : 0;
    of_slice[l] = there ? c.slice[l] * slice_bytes : 0;
    tile_of_slice[l] = there ? c.slice[l] * tile_rows : 0;
  }
  texels.corners = c.count;
  texels.data = reinterpret_cast<std::uint64_t>(plane.data);
  texels.first_place = plane.tiled ? plane.first_tile : texels.data;
  for (unsigned k = 0; k < c.count; ++k) {
    const Ints &xs = c.index[0][k & 1], &ys = c.axes == 2 ? c.index[1][k >> 1] : kNoRow, &weight = c.weight[k];
    Ints &offset = c.offset[k], &on = c.on[k], &place = texels.place[k];
#pragma GCC ivdep
    for (unsigned l = 0; l < kLanes; ++l) {
      const std::int32_t x = xs[l], y = ys[l], inside = (x | y) >= 0 ? asked[l] : 0;
      on[l] = weight[l] != 0 ? inside : 0;
      c.outside[k][l] = ~inside;
      offset[l] = (of_slice[l] + y * row_bytes + x * bytes) & on[l];
    }
    if (!plane.tiled)
      std::memcpy(place, offset, sizeof place);
    else
#pragma GCC ivdep
      for (unsigned l = 0; l < kLanes; ++l) {
        const std::int32_t byte = xs[l] * bytes, row = ys[l];
        const std::int32_t tile = (tile_of_slice[l] + (row >> kTileRowsShift)) * tiles + (byte >> kTileBytesShift);
        place[l] = tile * kTileSize + (row & (kTileRows - 1)) * kTileBytes + (byte & (kTileBytes - 1));
      }
    std::memcpy(texels.offset[k], offset, sizeof offset);
    texels.on[k] = negative_lanes(on);
  }
}

void read_one_texel(const Texture& t, const TexelPlane& plane, const Corners& c, LaneMask on, const Texel& outside,
                    LaneMask mask, std::uint32_t* out) {
  const ChannelFormat& f = t.format();
  if (f.bits[0] == 32 && !t.description.normalized_float) {
    for (unsigned k = 0; k < 4; ++k) {
      const std::uint32_t other = f.bits[k] ? outside.channel[k] : 0;
      for (unsigned l = 0; l < kLanes; ++l) {
        std::uint32_t word = 0;
        if (f.bits[k]) std::memcpy(&word, plane.data + c.offset[0][l] + k * sizeof word, sizeof word);
        out[k * kLanes + l] = c.on[0][l] ? word : other;
      }
    }
    return;
  }
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(m));
    const Texel x = on >> l & 1 ? unpack(t, plane.data + c.offset[0][l]) : outside;
    for (unsigned k = 0; k < 4; ++k) out[k * kLanes + l] = x.channel[k];
  }
}

// ---- Linear filtering (texture_filter.cpp): values in the filter's own unit.
enum class FilteredFormat { none, float32, unsigned8, unsigned16 };

FilteredFormat filtered_format(const Texture& t) {
  const ChannelFormat& f = t.format();
  for (unsigned k = 1; k < 4; ++k)
    if (f.bits[k] && f.bits[k] != f.bits[0]) return FilteredFormat::none;
  if (f.kind == ChannelFormat::Kind::floating) return f.bits[0] == 32 ? FilteredFormat::float32 : FilteredFormat::none;
  if (f.kind != ChannelFormat::Kind::unsigned_integer || !t.description.normalized_float || t.description.srgb)
    return FilteredFormat::none;
  return f.bits[0] == 8    ? FilteredFormat::unsigned8
         : f.bits[0] == 16 ? FilteredFormat::unsigned16
                           : FilteredFormat::none;
}

template <class T, class Widen>
void load(const std::uint8_t* data, const Ints& offset, Widen widen, double* values) {
  for (unsigned l = 0; l < kLanes; ++l) {
    T raw;
    std::memcpy(&raw, data + offset[l], sizeof raw);
    values[l] = widen(raw);
  }
}

void load(FilteredFormat format, const std::uint8_t* data, const Ints& offset, double* values) {
  if (format == FilteredFormat::unsigned8)  // widened to 16 bits
    load<std::uint8_t>(
        data, offset, [](std::uint8_t v) { return v * 257.0; }, values);
  else if (format == FilteredFormat::unsigned16)
    load<std::uint16_t>(
        data, offset, [](std::uint16_t v) { return static_cast<double>(v); }, values);
  else
    load<float>(
        data, offset, [](float v) { return static_cast<double>(v); }, values);
}

// Halves go away from zero.
float rounded_to_float(double v) {
  const std::uint64_t bits = (__builtin_bit_cast(std::uint64_t, v) + (std::uint64_t{1} << 28)) >> 29 << 29;
  return static_cast<float>(magnitude(v) < 0x1p-126 ? v : __builtin_bit_cast(double, bits));
}

void filter(const Texture& t, FilteredFormat format, const TexelPlane& plane, const Corners& c, std::uint32_t* out) {
  const ChannelFormat& f = t.format();
  const Texel border = border_texel(t);
  alignas(64) double sums[kLanes], values[kLanes];
  for (unsigned k = 0; k < 4; ++k) {
    if (!f.bits[k]) {
      std::fill_n(out + k * kLanes, kLanes, 0u);
      continue;
    }
    const auto colour = double{std::bit_cast<float>(border.channel[k])};
    const double outside = format == FilteredFormat::float32 ? colour : std::round(colour * 65535);
    const std::size_t offset = std::size_t{k} * f.bits[0] / 8;
    for (unsigned l = 0; l < kLanes; ++l) sums[l] = 0;
    for (unsigned corner = 0; corner < c.count; ++corner) {
      load(format, plane.data + offset, c.offset[corner], values);
      for (unsigned l = 0; l < kLanes; ++l) {  // what has no weight may be infinite
        const std::int32_t weight = c.weight[corner][l];
        const double value = c.outside[corner][l] ? outside : values[l];
        sums[l] += weight * (1 / 256.0) * (weight ? value : 0.0);
      }
    }
    alignas(64) float rounded[kLanes];
    if (format == FilteredFormat::float32)
      for (unsigned l = 0; l < kLanes; ++l) rounded[l] = rounded_to_float(sums[l]);
    else
      for (unsigned l = 0; l < kLanes; ++l) rounded[l] = static_cast<float>(floor(sums[l] + 0.5) / 65535);
    std::memcpy(out + k * kLanes, rounded, sizeof rounded);
  }
}

bool read_all(const Texture& t, const TextureCall& call, const std::uint32_t* coordinates, LaneMask mask,
              std::uint32_t* out, LaneTexels& texels) {
  const TexelPlane plane(t);
  if (plane.size[0] <= 0 || plane.size[1] <= 0 || plane.stretch() > kLargest) return false;
  Corners c;
  c.axes = call.geometry == TextureGeometry::d2 || call.geometry == TextureGeometry::a2d ? 2 : 1;
  const bool layered = call.geometry == TextureGeometry::a1d || call.geometry == TextureGeometry::a2d;
  const std::uint32_t* const point = coordinates + (layered ? kLanes : 0);
  const bool sampled = !call.integer_coordinates;
  const bool linear = sampled && t.description.linear_filter && gives_floats(t);
  const FilteredFormat format = linear ? filtered_format(t) : FilteredFormat::none;
  if (linear && format == FilteredFormat::none) return false;
  // The hardware takes a 1D texture for a 2D one of one row, half of which is border then.
  if (linear && c.axes == 1 && !layered && t.description.address[1] == AddressMode::border) return false;
  for (unsigned l = 0; l < kLanes; ++l) {  // the sampler's layer is unsigned, and there is always one
    const std::uint32_t layer = layered ? coordinates[l] : 0, last = static_cast<std::uint32_t>(plane.size[2] - 1);
    c.slice[l] = static_cast<std::int32_t>(sampled ? std::min(layer, last) : layer);
  }
  if (!sampled)
    find_indices(plane, point, c), std::fill_n(c.weight[0], kLanes, 256);
  else if (!find_corners(t, plane, point, mask, linear, c))
    return false;
  else
    find_weights(linear, c);
  const NotWatched guard;
  find_texels(plane, mask, c, texels);
  if (linear)
    filter(t, format, plane, c, out);
  else
    read_one_texel(t, plane, c, texels.on[0], sampled ? border_texel(t) : Texel{}, mask, out);
  return true;
}

[[gnu::flatten]] bool read_avx2(const Texture& t, const TextureCall& call, const std::uint32_t* coordinates,
                                LaneMask mask, std::uint32_t* out, LaneTexels& texels) {
  return read_all(t, call, coordinates, mask, out, texels);
}

[[gnu::flatten]] WG_AVX512 bool read_avx512(const Texture& t, const TextureCall& call, const std::uint32_t* coordinates,
                                            LaneMask mask, std::uint32_t* out, LaneTexels& texels) {
  return read_all(t, call, coordinates, mask, out, texels);
}

#pragma GCC pop_options

}  // namespace

bool is_flat(const TextureCall& call) {
  const bool geometry = call.geometry == TextureGeometry::d1 || call.geometry == TextureGeometry::d2 ||
                        call.geometry == TextureGeometry::a1d || call.geometry == TextureGeometry::a2d;
  return geometry && !call.gather && call.detail == jit::TextureDetail::base;
}

bool read_lanes(const Texture& t, const TextureCall& call, const std::uint32_t* coordinates, LaneMask mask,
                std::uint32_t* out, LaneTexels& texels) {
  return (kHaveAvx512 ? read_avx512 : read_avx2)(t, call, coordinates, mask, out, texels);
}

}  // namespace warpgrind::device
