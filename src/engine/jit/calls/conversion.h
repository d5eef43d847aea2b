// Rounding to the small floating-point formats. Machine code (codegen/families/conversion.cpp) calls it for the rarer
// forms of cvt.
#pragma once

#include <cstdint>

namespace warpgrind::jit {

enum class SmallFormat : std::uint32_t { f16, bf16, e4m3, e5m2, e2m3, e3m2, e2m1 };

// Control word of wg_round_f64: format | rounding << 4 | flags. The rounding is a Rounding of
// codegen/families/floating_arithmetic.h.
enum RoundingFlags : std::uint32_t {
  kRoundingShift = 4,
  kRoundRelu = 1u << 8,       // negative numbers become +0
  kRoundSatfinite = 1u << 9,  // values out of range become the largest number of that sign
  kRoundKeepNan = 1u << 10,   // a NaN keeps its sign and upper payload; otherwise the format's one NaN
};

// Rounds to nearest even; a number out of range becomes the largest one of its sign.
std::uint32_t round_to_format(double value, SmallFormat format);

void register_conversion_symbols();  // wg_round_f64

}  // namespace warpgrind::jit
