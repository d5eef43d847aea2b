#include "device/calls/texture_lanes.h"

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/sanitizers.h"
#include "device/memory/texel_plane.h"
#include "device/memory/texture_format.h"

namespace warpgrind::device {

namespace {

using jit::TextureCall;

constexpr unsigned kLanes = kWarpSize, kMostCorners = 4, kAxes = 2;
constexpr double kFarthest = 0x1p30;  // texels: so far indices and their remainders are exact

#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")
#pragma GCC optimize("O3", "no-trapping-math", "no-math-errno")

// std:: functions are compiled with other options, and so are not inlined here.
double floor(double v) {
  return __builtin_floor(v);
}
double magnitude(double v) {
  return __builtin_fabs(v);
}
float magnitude(float v) {
  return __builtin_fabsf(v);
}

// The texels around each lane's point: by axis the lower and the upper one, -1 outside. Of one texel the lower alone.
struct Corners {
  unsigned axes = 1, count = 1;
  alignas(64) std::int32_t index[kAxes][2][kLanes];
  alignas(64) std::int32_t weight[kMostCorners][kLanes];  // in 1/256
  alignas(64) std::int32_t slice[kLanes];
  alignas(64) double position[kLanes], low[kLanes];  // of the axis in hand, in texels
  alignas(64) std::int32_t fraction[kAxes][kLanes];
};

// In texels. False: some lane is too far out.
bool find_positions(const std::uint32_t* raw, LaneMask mask, bool normalized, bool repeats, double size,
                    double* position) {
  alignas(64) float u[kLanes];
  std::memcpy(u, raw, sizeof u);
  for (unsigned l = 0; l < kLanes; ++l)
    // Not-a-number and subnormal coordinates are 0, as on an H200; what the other lanes' registers hold is nothing.
    u[l] = (mask >> l & 1) && magnitude(u[l]) >= 0x1p-126f ? u[l] : 0.0f;
  double farthest = 0;
  for (unsigned l = 0; l < kLanes; ++l) {
    const double wide = double{u[l]};
    double p = wide;
    if (normalized) {  // 21 bits of fraction; beyond 2^24 there is none
      const double held = floor(wide * 0x1p21) * 0x1p-21, far = repeats ? 0.0 : wide;
      p = (magnitude(wide) < 0x1p24 ? held : far) * size;
    }
    position[l] = p;
    farthest = magnitude(p) > farthest ? magnitude(p) : farthest;
  }
  return farthest < kFarthest;
}

// index: whole numbers, moved into [0, size) by the address mode; -1: border.
void place_indices(const double* index, double size, AddressMode mode, std::int32_t* placed) {
  const auto each = [&](auto place) {
    for (unsigned l = 0; l < kLanes; ++l) placed[l] = static_cast<std::int32_t>(place(index[l]));
  };
  const auto remainder = [](double i, double n) {
    const double r = i - n * floor(i / n);  // the quotient may be rounded to the next whole number
    return r < 0 ? r + n : r >= n ? r - n : r;
  };
  switch (mode) {
    case AddressMode::wrap:
      return each([&](double i) { return remainder(i, size); });
    case AddressMode::mirror:
      return each([&](double i) {
        const double r = remainder(i, 2 * size);
        return r < size ? r : 2 * size - 1 - r;
      });
    case AddressMode::clamp:
      return each([&](double i) { return i < 0 ? 0.0 : i > size - 1 ? size - 1 : i; });
    default:
      return each([&](double i) { return i < 0 || i >= size ? -1.0 : i; });
  }
}

// What the sampler makes of the coordinates. False: a lane is too far out.
bool find_corners(const Texture& t, const TexelPlane& plane, const std::uint32_t* coordinates, LaneMask mask,
                  bool linear, Corners& c) {
  const TextureDescription& d = t.description;
  for (unsigned axis = 0; axis < c.axes; ++axis) {
    const auto size = static_cast<double>(plane.size[axis]);
    AddressMode mode = d.address[axis];
    const bool repeats = mode == AddressMode::wrap || mode == AddressMode::mirror;
    if (repeats && !d.normalized_coordinates) mode = AddressMode::clamp;
    if (!find_positions(coordinates + std::size_t{axis} * kLanes, mask, d.normalized_coordinates, repeats, size,
                        c.position))
      return false;
    for (unsigned l = 0; l < kLanes; ++l) {
      const double fixed = floor(c.position[l] * 256 - 127.5);
      c.low[l] = linear ? floor(fixed / 256) : floor(c.position[l]);
      c.fraction[axis][l] = linear ? static_cast<std::int32_t>(fixed - c.low[l] * 256) : 0;
    }
    place_indices(c.low, size, mode, c.index[axis][0]);
    if (!linear) continue;
    for (unsigned l = 0; l < kLanes; ++l) c.low[l] += 1;
    place_indices(c.low, size, mode, c.index[axis][1]);
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

struct Pointers {
  const std::uint8_t* at[kMostCorners][kLanes];  // null: outside, or of weight 0
};

// Reads of weight 0 are not made. Each lane's come in the order of the corners.
void find_texels(const TexelPlane& plane, const Corners& c, LaneMask mask, Pointers& pointers, Texels& texels) {
  for (unsigned k = 0; k < c.count; ++k) std::fill_n(pointers.at[k], kLanes, nullptr);
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(m));
    const std::int64_t slice = c.slice[l];
    unsigned read = 0;
    for (unsigned k = 0; k < c.count; ++k) {
      const std::int32_t x = c.index[0][k & 1][l], y = c.axes == 2 ? c.index[1][k >> 1][l] : 0;
      if ((x | y) < 0 || slice < 0 || slice >= plane.size[2] || c.weight[k][l] == 0) continue;
      const auto ux = static_cast<std::uint64_t>(x), uy = static_cast<std::uint64_t>(y),
                 uz = static_cast<std::uint64_t>(slice);
      const std::uint8_t* const at = plane.at(ux, uy, uz);
      pointers.at[k][l] = at;
      texels.on[read] |= LaneMask{1} << l;
      texels.addresses[read][l] = reinterpret_cast<std::uint64_t>(at);
      texels.layout[read++][l] = plane.layout(ux, uy, uz);
    }
    texels.most = std::max(texels.most, read);
  }
}

void read_one_texel(const Texture& t, const Pointers& pointers, const Texel& outside, LaneMask mask,
                    std::uint32_t* out) {
  const ChannelFormat& f = t.format();
  const bool words = f.bits[0] == 32 && !t.description.normalized_float;
  const std::size_t size = f.bytes();
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(m));
    const std::uint8_t* const at = pointers.at[0][l];
    Texel x{};
    if (!at)
      x = outside;
    else if (words)
      std::memcpy(x.channel, at, size);
    else
      x = unpack(t, at);
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

double value_of(FilteredFormat format, const std::uint8_t* at) {
  if (format == FilteredFormat::unsigned8) return *at * 257.0;  // widened to 16 bits
  if (format == FilteredFormat::unsigned16) {
    std::uint16_t raw;
    std::memcpy(&raw, at, sizeof raw);
    return raw;
  }
  float v;
  std::memcpy(&v, at, sizeof v);
  return double{v};
}

// Halves go away from zero.
float rounded_to_float(double v) {
  const std::uint64_t bits = (std::bit_cast<std::uint64_t>(v) + (std::uint64_t{1} << 28)) >> 29 << 29;
  return static_cast<float>(magnitude(v) < 0x1p-126 ? v : std::bit_cast<double>(bits));
}

void filter(const Texture& t, FilteredFormat format, const Corners& c, const Pointers& pointers, std::uint32_t* out) {
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
      for (unsigned l = 0; l < kLanes; ++l) {
        const std::uint8_t* const at = pointers.at[corner][l];
        values[l] = at ? value_of(format, at + offset) : outside;
      }
      for (unsigned l = 0; l < kLanes; ++l) {  // what has no weight may be infinite
        const std::int32_t weight = c.weight[corner][l];
        sums[l] += weight * (1 / 256.0) * (weight ? values[l] : 0.0);
      }
    }
    for (unsigned l = 0; l < kLanes; ++l) {
      const float sum = format == FilteredFormat::float32 ? rounded_to_float(sums[l])
                                                          : static_cast<float>(floor(sums[l] + 0.5) / 65535);
      out[k * kLanes + l] = std::bit_cast<std::uint32_t>(sum);
    }
  }
}

#pragma GCC pop_options

}  // namespace

bool is_flat(const TextureCall& call) {
  const bool geometry = call.geometry == TextureGeometry::d1 || call.geometry == TextureGeometry::d2 ||
                        call.geometry == TextureGeometry::a1d || call.geometry == TextureGeometry::a2d;
  return geometry && !call.gather && call.detail == jit::TextureDetail::base;
}

bool read_lanes(const Texture& t, const TextureCall& call, const std::uint32_t* coordinates, LaneMask mask,
                std::uint32_t* out, Texels& texels) {
  const TexelPlane plane(t);
  if (plane.size[0] <= 0 || plane.size[1] <= 0) return false;
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
  Pointers pointers;
  find_texels(plane, c, mask, pointers, texels);
  if (linear)
    filter(t, format, c, pointers, out);
  else
    read_one_texel(t, pointers, sampled ? border_texel(t) : Texel{}, mask, out);
  return true;
}

}  // namespace warpgrind::device
