// Conversion of stored texels and border colours to channel values, as on an H200.
#include "device/memory/texture_format.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "gpu/half.h"

namespace warpgrind::device {

namespace {

// sRGB texels are fixed-point numbers. Their unit doubles at seven bytes: 2^-14 below the first, 2^-7 from the last on.
// Source: an H200, the 146 bytes and 352 filtered sums of tests/hardware/textures.expected and tests/random; 110 bytes
// occur only in sums or were not recorded.
constexpr unsigned kSrgbSteps[] = {32, 48, 64, 96, 136, 184, 248};

double from_srgb(unsigned byte) {
  const double v = byte / 255.0, linear = v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
  double unit = 0x1p-14;
  for (const unsigned step : kSrgbSteps)
    if (byte >= step) unit *= 2;
  return std::floor(linear / unit + 0.5) * unit;
}

double to_srgb(double v) {
  return v <= 0.0031308 ? v * 12.92 : 1.055 * std::pow(v, 1 / 2.4) - 0.055;
}

const std::array<float, 256>& srgb_table() {
  static const std::array<float, 256> table = [] {
    std::array<float, 256> t;
    for (unsigned k = 0; k < 256; ++k) t[k] = static_cast<float>(from_srgb(k));
    return t;
  }();
  return table;
}

// Keeps a signalling NaN, like an H200; the host's conversion makes it quiet.
std::uint32_t widened_half(std::uint32_t half) {
  if ((half & 0x7fff) > 0x7c00) return (half & 0x8000) << 16 | 0x7f800000 | (half & 0x3ff) << 13;
  return std::bit_cast<std::uint32_t>(half_to_float(static_cast<std::uint16_t>(half)));
}

}  // namespace

double srgb_unit(double linear) {
  double unit = 0x1p-14;
  for (const unsigned step : kSrgbSteps)
    if (linear >= srgb_table()[step]) unit *= 2;
  return unit;
}

bool gives_floats(const Texture& t) {
  return t.format().kind == ChannelFormat::Kind::floating || t.description.normalized_float;
}

Texel unpack(const Texture& t, const std::uint8_t* at, TexelRange range) {
  const ChannelFormat& f = t.format();
  Texel out{};
  unsigned bit = 0;
  for (unsigned c = 0; c < 4; ++c) {
    const unsigned bits = f.bits[c];
    if (!bits) continue;
    std::uint32_t raw = 0;
    std::memcpy(&raw, at + bit / 8, bits / 8);
    bit += bits;
    const std::int32_t value =
        bits < 32 ? static_cast<std::int32_t>(raw << (32 - bits)) >> (32 - bits) : static_cast<std::int32_t>(raw);
    if (f.kind == ChannelFormat::Kind::floating) {
      out.channel[c] = bits == 16 ? widened_half(raw) : raw;
    } else if (t.description.normalized_float) {
      float v = 0;
      if (f.kind == ChannelFormat::Kind::unsigned_integer)
        v = static_cast<float>(raw / static_cast<double>(bits == 32 ? 0xffffffffu : (1u << bits) - 1));
      else
        v = static_cast<float>(value / static_cast<double>((std::int64_t{1} << (bits - 1)) - 1));
      if (range == TexelRange::clamped) v = std::max(-1.0f, v);
      if (t.description.srgb && c < 3) v = srgb_table()[raw & 0xff];
      out.channel[c] = std::bit_cast<std::uint32_t>(v);
    } else {
      out.channel[c] = f.kind == ChannelFormat::Kind::signed_integer ? static_cast<std::uint32_t>(value) : raw;
    }
  }
  return out;
}

// Integer border colours are the bits of the floats (CUDA runtime API, cudaTextureDesc::borderColor). Colours of
// normalised formats are rounded to values of the format.
Texel border_texel(const Texture& t) {
  const ChannelFormat& f = t.format();
  Texel out{};
  for (unsigned c = 0; c < 4; ++c) {
    const unsigned bits = f.bits[c];
    if (!bits) continue;
    const float colour = t.description.border[c];
    const auto raw = std::bit_cast<std::uint32_t>(colour);
    if (f.kind == ChannelFormat::Kind::floating) {
      out.channel[c] = raw;
    } else if (t.description.normalized_float) {
      const bool s = f.kind == ChannelFormat::Kind::signed_integer;
      const double scale = static_cast<double>((std::uint64_t{1} << (bits - s)) - 1);
      if (t.description.srgb && c < 3) {
        const double byte = to_srgb(colour > 0 ? std::min(colour, 1.0f) : 0) * 255;  // 0 for NaN
        out.channel[c] = std::bit_cast<std::uint32_t>(srgb_table()[static_cast<unsigned>(std::lround(byte))]);
        continue;
      }
      const double held = std::ceil(std::clamp<double>(colour, s ? -1 : 0, 1) * scale - 0.5) / scale + 0.0;  // no -0
      out.channel[c] = std::bit_cast<std::uint32_t>(static_cast<float>(held));
    } else {
      const unsigned unused = 32 - bits;
      out.channel[c] = f.kind == ChannelFormat::Kind::signed_integer
                           ? static_cast<std::uint32_t>(static_cast<std::int32_t>(raw << unused) >> unused)
                           : raw << unused >> unused;
    }
  }
  return out;
}

}  // namespace warpgrind::device
