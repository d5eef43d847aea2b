// Rounding of an f64 to the formats of at most 16 bits, by integer arithmetic.
#include "jit/calls/conversion.h"

#include <bit>

#include "gpu/types.h"
#include "jit/calls/symbols.h"

namespace warpgrind::jit {

namespace {

struct Format {
  int exponent_bits, mantissa_bits;
  std::uint32_t largest, overflow, nan;
};
// e4m3 has no infinity: its top exponent holds numbers, and 0x7f is NaN. The formats below 8 bits have numbers alone,
// and the largest stands for NaN.
constexpr Format kFormats[] = {
    {5, 10, 0x7bff, 0x7c00, 0x7fff}, {8, 7, 0x7f7f, 0x7f80, 0x7fff}, {4, 3, 0x7e, 0x7f, 0x7f}, {5, 2, 0x7b, 0x7c, 0x7f},
    {2, 3, 0x1f, 0x1f, 0x1f},        {3, 2, 0x1f, 0x1f, 0x1f},       {2, 1, 7, 7, 7}};

enum Mode : std::uint32_t { nearest, zero, down, up };

// Rounds m * 2^e to units of 2^quantum. `negative`: sign of the value, for the modes down and up.
std::uint64_t in_units(std::uint64_t m, int e, int quantum, bool negative, Mode mode) {
  const int drop = quantum - e;
  if (drop <= 0) return m << -drop;
  const std::uint64_t kept = drop < 64 ? m >> drop : 0;
  const std::uint64_t rest = drop < 64 ? m & ((std::uint64_t{1} << drop) - 1) : m;
  if (rest == 0) return kept;
  if (mode == nearest) {
    if (drop > 63) return kept;  // m has 53 bits: less than half a unit
    const std::uint64_t half = std::uint64_t{1} << (drop - 1);
    return kept + (rest > half || (rest == half && (kept & 1)));
  }
  return kept + ((mode == up && !negative) || (mode == down && negative));
}

std::uint32_t round_to(double value, std::uint32_t how) {
  const Format& f = kFormats[how & 15];
  const auto mode = static_cast<Mode>(how >> kRoundingShift & 15);
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const bool negative = bits >> 63;
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff);
  std::uint64_t m = bits & ((std::uint64_t{1} << 52) - 1);
  const std::uint32_t sign = std::uint32_t{negative} << (f.exponent_bits + f.mantissa_bits);
  const std::uint32_t infinity = ((1u << f.exponent_bits) - 1) << f.mantissa_bits;
  if (exponent == 0x7ff && m) {
    if (!(how & kRoundKeepNan)) return f.nan;
    return sign | infinity | 1u << (f.mantissa_bits - 1) | static_cast<std::uint32_t>(m >> (52 - f.mantissa_bits));
  }
  if (negative && (how & kRoundRelu)) return 0;
  if (exponent == 0x7ff) return sign | (how & kRoundSatfinite ? f.largest : f.overflow);
  if (exponent == 0 && m == 0) return sign;
  if (exponent) m |= std::uint64_t{1} << 52;
  const int e = (exponent ? exponent : 1) - 1075;  // value = m * 2^e
  const int lowest = 2 - (1 << (f.exponent_bits - 1));
  const int top = e + 63 - std::countl_zero(m);
  const int binade = top > lowest ? top : lowest;
  const std::uint64_t units = in_units(m, e, binade - f.mantissa_bits, negative, mode);
  // The hidden bit carries into the exponent field.
  const std::uint64_t magnitude = units + (static_cast<std::uint64_t>(binade - lowest) << f.mantissa_bits);
  if (magnitude <= f.largest) return sign | static_cast<std::uint32_t>(magnitude);
  const bool inward =
      (how & kRoundSatfinite) || mode == zero || (mode == down && !negative) || (mode == up && negative);
  return sign | (inward ? f.largest : f.overflow);
}

extern "C" void wg_round_f64(std::uint32_t* out, const double* in, const std::uint32_t* how) {
  for (unsigned l = 0; l < kWarpSize; ++l) out[l] = round_to(in[l], how[l]);
}

}  // namespace

std::uint32_t round_to_format(double value, SmallFormat format) {
  return round_to(value, static_cast<std::uint32_t>(format) | kRoundSatfinite);
}

void register_conversion_symbols() {
  static const CallSymbol symbols[] = {{"wg_round_f64", reinterpret_cast<void*>(&wg_round_f64)}};
  register_call_symbols(symbols);
}

}  // namespace warpgrind::jit
