// Filter arithmetic of an H200: weights, sums and rounding of each texel format.
#include "device/memory/texture_filter.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "device/memory/texture_format.h"

namespace warpgrind::device {

namespace {

// Rounds to nearest, ties away from zero. digits: bits of the significand with the leading one; 24: float.
float rounded(double v, int digits) {
  if (std::fabs(v) < 0x1p-126) return static_cast<float>(v);
  const auto bits = std::bit_cast<std::uint64_t>(v);
  const int drop = 53 - digits;
  const std::uint64_t kept = (bits + (std::uint64_t{1} << (drop - 1))) >> drop << drop;
  return static_cast<float>(std::bit_cast<double>(kept));
}

enum class FilterArithmetic { floating, half, normalized_16, signed_8, srgb };

FilterArithmetic arithmetic_of(const Texture& t, unsigned channel) {
  const ChannelFormat& f = t.format();
  const unsigned bits = f.bits[channel] ? f.bits[channel] : f.bits[0];
  if (f.kind == ChannelFormat::Kind::floating) return bits == 16 ? FilterArithmetic::half : FilterArithmetic::floating;
  if (t.description.srgb && channel < 3) return FilterArithmetic::srgb;
  return f.kind == ChannelFormat::Kind::signed_integer && bits == 8 ? FilterArithmetic::signed_8
                                                                    : FilterArithmetic::normalized_16;
}

// Widens a sum in units of 1/256 to 16 bits: times 1 + 1/128 + 1/32768. The product has three more bits, and each term
// is truncated there (an H200: all 553 sums recorded, tests/hardware/signed_normalized.txt).
std::int64_t widened_signed_8(std::int64_t sum) {
  const std::int64_t s = sum * 8;
  return (s + (s >> 7) + (s >> 15) + 4) >> 3;
}

// Rounds a sum of weight/256 times value. 8- and 16-bit normalised texels and their sum are widened to 16-bit fixed
// point; signed bytes only after the sum.
float filtered(const Texture& t, FilterArithmetic arithmetic, double sum) {
  switch (arithmetic) {
    case FilterArithmetic::floating:
      return rounded(sum, 24);
    case FilterArithmetic::normalized_16:
      return static_cast<float>(std::max(-32767.0, std::floor(sum + 0.5)) /
                                (t.format().kind == ChannelFormat::Kind::signed_integer ? 32767 : 65535));
    case FilterArithmetic::signed_8:
      return static_cast<float>(
          static_cast<double>(std::max<std::int64_t>(-32767, widened_signed_8(std::llround(sum * 256)))) / 32767);
    default:  // half
      return std::fabs(sum) < 0x1p-14 ? static_cast<float>(std::round(sum * 0x1p24) * 0x1p-24) : rounded(sum, 11);
  }
}

// The filter adds halves and sRGB texels in the unit of the greatest one and drops all bits below. Halves then have 15
// bits (an H200: 290 sums of tests/random; exact sums differ from 24 of them).
void align(FilterArithmetic arithmetic, double* values, unsigned count) {
  if (arithmetic != FilterArithmetic::half && arithmetic != FilterArithmetic::srgb) return;
  double greatest = 0;
  for (unsigned k = 0; k < count; ++k) greatest = std::max(greatest, std::fabs(values[k]));
  if (!std::isfinite(greatest) || greatest == 0) return;
  const auto first_bit = std::bit_cast<double>(std::bit_cast<std::uint64_t>(greatest) >> 52 << 52);
  const double unit = arithmetic == FilterArithmetic::half ? first_bit * 0x1p-14 : srgb_unit(greatest);
  const double units = 1 / unit;  // exact
  for (unsigned k = 0; k < count; ++k) values[k] = std::trunc(values[k] * units) * unit;
}

double widened(const Texture& t, FilterArithmetic arithmetic, float value) {
  if (arithmetic == FilterArithmetic::signed_8) return std::round(double{value} * 127);
  if (arithmetic != FilterArithmetic::normalized_16) return double{value};
  return std::round(double{value} * (t.format().kind == ChannelFormat::Kind::signed_integer ? 32767 : 65535));
}

}  // namespace

// Weights of the 2, 4 or 8 texels in units of 1/256, as in hardware: products of the fractions are rounded to 8 bits,
// and the weights still add up to 256. Found with one-hot textures on an H200: 1D and 2D always agree; in 3D one in
// twenty differs by 1/256. Corner c is the upper neighbour along axis d if bit d of c is set.
void filter_weights(unsigned dims, const std::uint32_t* fraction, std::uint32_t* weights) {
  const auto split = [](std::uint32_t whole, std::uint32_t part, bool half_up) {
    return (whole * part + (half_up ? 128 : 127)) >> 8;
  };
  const std::uint32_t x = fraction[0], y = dims > 1 ? fraction[1] : 0, z = dims > 2 ? fraction[2] : 0;
  if (dims == 1) {
    weights[0] = 256 - x;
    weights[1] = x;
    return;
  }
  if (dims == 2) {
    const std::uint32_t both = split(x, y, true);
    weights[0] = 256 - x - y + both;
    weights[1] = x - both;
    weights[2] = y - both;
    weights[3] = both;
    return;
  }
  const std::uint32_t both = split(x, z, true);
  const std::uint32_t columns[4] = {256 - x - z + both, x - both, z - both, both};
  for (unsigned c = 0; c < 4; ++c) {
    const std::uint32_t high = split(columns[c], y, c & 1);
    const unsigned corner = (c & 1) + (c >> 1) * 4;
    weights[corner] = columns[c] - high;
    weights[corner + 2] = high;
  }
}

Texel filtered_texel(const Texture& t, const Texel* corners, const std::uint32_t* weights, unsigned count) {
  Texel out;
  for (unsigned k = 0; k < 4; ++k) {
    const FilterArithmetic arithmetic = arithmetic_of(t, k);
    double values[8], sum = 0;
    for (unsigned corner = 0; corner < count; ++corner)
      values[corner] = weights[corner] ? widened(t, arithmetic, std::bit_cast<float>(corners[corner].channel[k])) : 0;
    align(arithmetic, values, count);
    for (unsigned corner = 0; corner < count; ++corner)
      if (weights[corner]) sum += weights[corner] / 256.0 * values[corner];
    out.channel[k] = std::bit_cast<std::uint32_t>(filtered(t, arithmetic, sum));
  }
  return out;
}

bool widens_alone(const Texture& t, unsigned channel) {
  return gives_floats(t) && arithmetic_of(t, channel) == FilterArithmetic::signed_8;
}

std::uint32_t widened_alone(const Texture& t, unsigned channel, std::uint32_t bits) {
  const FilterArithmetic arithmetic = arithmetic_of(t, channel);
  return std::bit_cast<std::uint32_t>(filtered(t, arithmetic, widened(t, arithmetic, std::bit_cast<float>(bits))));
}

}  // namespace warpgrind::device
