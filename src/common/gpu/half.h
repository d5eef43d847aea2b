// Conversion between f16 and float on the host.
#pragma once

#include <immintrin.h>

#include <cmath>
#include <cstdint>

namespace warpgrind {

inline float half_to_float(std::uint16_t h) {
  return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(h)));
}

// Rounds to nearest even. A NaN becomes 0x7fff, as on the GPU.
inline std::uint16_t float_to_half(float f) {
  if (std::isnan(f)) return 0x7fff;
  return static_cast<std::uint16_t>(_mm_cvtsi128_si32(_mm_cvtps_ph(_mm_set_ss(f), _MM_FROUND_TO_NEAREST_INT)));
}

}  // namespace warpgrind
