// Conversion of matrix elements with vector code (AVX2).
#include "jit/calls/matrix_elements.h"

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "gpu/half.h"

namespace warpgrind::jit {

using ptx::ScalarType;

unsigned matrix_element_bits(ScalarType type) {
  switch (type) {
    case ScalarType::b1:
      return 1;
    case ScalarType::s4:
    case ScalarType::u4:
    case ScalarType::e2m1x2:
      return 4;
    case ScalarType::s8:
    case ScalarType::u8:
    case ScalarType::e4m3:
    case ScalarType::e5m2:
    case ScalarType::e3m2:
    case ScalarType::e2m3:
    case ScalarType::e2m1:
      return 8;
    case ScalarType::f16:
    case ScalarType::bf16:
      return 16;
    case ScalarType::f64:
      return 64;
    default:
      return 32;
  }
}

namespace {

constexpr unsigned kWide = 8;  // floats per vector

// e4m3 (no infinity, 0x7f is NaN) and e5m2 (the upper half of an f16).
float fp8_to_float(std::uint8_t v, ScalarType type) {
  if (type == ScalarType::e5m2) return half_to_float(static_cast<std::uint16_t>(v << 8));
  const unsigned exponent = v >> 3 & 15, mantissa = v & 7;
  if (exponent == 15 && mantissa == 7) return std::nanf("");
  const float size = exponent == 0 ? static_cast<float>(mantissa) * 0x1p-9f
                                   : std::bit_cast<float>((exponent + 120) << 23 | mantissa << 20);
  return v & 0x80 ? -size : size;
}

// Numbers of six or four bits: sign, exponent, mantissa, all of them finite.
float small_to_float(unsigned v, unsigned exponent_bits, unsigned mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const unsigned mantissa = v & ((1u << mantissa_bits) - 1),
                 exponent = v >> mantissa_bits & ((1u << exponent_bits) - 1);
  const unsigned significand = exponent == 0 ? mantissa : mantissa | 1u << mantissa_bits;
  const float size = std::ldexp(static_cast<float>(significand),
                                static_cast<int>(std::max(exponent, 1u)) - bias - static_cast<int>(mantissa_bits));
  return v >> (exponent_bits + mantissa_bits) & 1 ? -size : size;
}

// A byte of each type. PTX ISA, "Packing of data": e3m2 and e2m3 are the lower six bits, e2m1 the four in the middle.
float byte_to_float(std::uint8_t v, ScalarType type) {
  switch (type) {
    case ScalarType::e3m2:
      return small_to_float(v, 3, 2);
    case ScalarType::e2m3:
      return small_to_float(v, 2, 3);
    case ScalarType::e2m1:
      return small_to_float(v >> 2u, 2, 1);
    case ScalarType::e2m1x2:  // one of the two
      return small_to_float(v, 2, 1);
    case ScalarType::e4m3:
    case ScalarType::e5m2:
      return fp8_to_float(v, type);
    default:
      WG_ASSERT(!"a type of 8-bit matrices");
  }
}

// Table of all bytes as numbers of a type: vector code looks them up with a gather.
const float* byte_numbers(ScalarType type) {
  struct Numbers {
    float of[256];
    explicit Numbers(ScalarType t) {
      for (unsigned v = 0; v < 256; ++v) of[v] = byte_to_float(static_cast<std::uint8_t>(v), t);
    }
  };
  static const Numbers e4m3(ScalarType::e4m3), e5m2(ScalarType::e5m2), e3m2(ScalarType::e3m2), e2m3(ScalarType::e2m3),
      e2m1(ScalarType::e2m1), e2m1x2(ScalarType::e2m1x2);
  for (const auto& [of, numbers] :
       {std::pair{ScalarType::e5m2, &e5m2}, std::pair{ScalarType::e3m2, &e3m2}, std::pair{ScalarType::e2m3, &e2m3},
        std::pair{ScalarType::e2m1, &e2m1}, std::pair{ScalarType::e2m1x2, &e2m1x2}})
    if (of == type) return numbers->of;
  return e4m3.of;
}

void unpack_bytes(std::int32_t* out, const std::uint8_t* in, unsigned count, bool is_signed) {
  for (unsigned i = 0; i < count; i += kWide) {
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(in + i));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i),
                        is_signed ? _mm256_cvtepi8_epi32(bytes) : _mm256_cvtepu8_epi32(bytes));
  }
}

// Two 4-bit numbers per byte, the lower half first.
void unpack_nibbles(std::int32_t* out, const std::uint8_t* in, unsigned count, bool is_signed) {
  const __m256i places = _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28);
  for (unsigned i = 0; i < count; i += kWide) {
    std::int32_t word;
    std::memcpy(&word, in + i / 2, sizeof word);
    const __m256i up = _mm256_slli_epi32(_mm256_srlv_epi32(_mm256_set1_epi32(word), places), 28);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i),
                        is_signed ? _mm256_srai_epi32(up, 28) : _mm256_srli_epi32(up, 28));
  }
}

void pack_halves(std::uint16_t* out, const float* in, unsigned count) {
  const __m128i nan = _mm_set1_epi16(0x7fff);
  for (unsigned i = 0; i < count; i += kWide) {
    const __m256 v = _mm256_loadu_ps(in + i);
    const __m256i is_nan = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));
    const __m128i mask = _mm_packs_epi32(_mm256_castsi256_si128(is_nan), _mm256_extracti128_si256(is_nan, 1));
    const __m128i halves = _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), _mm_blendv_epi8(halves, nan, mask));
  }
}

}  // namespace

void unpack_matrix(float* out, const void* in, unsigned count, ScalarType type) {
  const auto* const bytes = static_cast<const std::uint8_t*>(in);
  const auto* const halves = static_cast<const std::uint16_t*>(in);
  const auto* const words = static_cast<const float*>(in);
  // Mask of the significant bits of a tf32.
  const __m256 significant = _mm256_castsi256_ps(_mm256_set1_epi32(static_cast<int>(0xffffe000u)));
  switch (type) {
    case ScalarType::f16:
      for (unsigned i = 0; i < count; i += kWide)
        _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(halves + i))));
      return;
    case ScalarType::bf16:
      for (unsigned i = 0; i < count; i += kWide) {
        const __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(halves + i)));
        _mm256_storeu_ps(out + i, _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16)));
      }
      return;
    case ScalarType::tf32:
      for (unsigned i = 0; i < count; i += kWide)
        _mm256_storeu_ps(out + i, _mm256_and_ps(_mm256_loadu_ps(words + i), significant));
      return;
    case ScalarType::f32:
      std::memcpy(out, in, count * sizeof *out);
      return;
    case ScalarType::e4m3:
    case ScalarType::e5m2:
    case ScalarType::e3m2:
    case ScalarType::e2m3:
    case ScalarType::e2m1: {
      const float* const number = byte_numbers(type);
      for (unsigned i = 0; i < count; ++i) out[i] = number[bytes[i]];
      return;
    }
    case ScalarType::e2m1x2: {
      const float* const number = byte_numbers(type);
      for (unsigned i = 0; i < count; ++i) out[i] = number[bytes[i / 2] >> (i % 2 * 4) & 15];
      return;
    }
    default:
      WG_ASSERT(!"a type of floating-point matrices");
  }
}

void unpack_matrix(double* out, const void* in, unsigned count, ScalarType type) {
  WG_ASSERT(type == ScalarType::f64);
  std::memcpy(out, in, count * sizeof *out);
}

void unpack_matrix(std::int32_t* out, const void* in, unsigned count, ScalarType type) {
  const auto* const bytes = static_cast<const std::uint8_t*>(in);
  switch (type) {
    case ScalarType::s32:
      std::memcpy(out, in, count * sizeof *out);
      return;
    case ScalarType::s8:
    case ScalarType::u8:
      return unpack_bytes(out, bytes, count, type == ScalarType::s8);
    case ScalarType::s4:
    case ScalarType::u4:
      return unpack_nibbles(out, bytes, count, type == ScalarType::s4);
    default:
      WG_ASSERT(!"a type of integer matrices");
  }
}

void pack_matrix(void* out, const float* in, unsigned count, ScalarType type) {
  if (type == ScalarType::f16) return pack_halves(static_cast<std::uint16_t*>(out), in, count);
  WG_ASSERT(type == ScalarType::f32);
  auto* const words = static_cast<float*>(out);
  const __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff));
  for (unsigned i = 0; i < count; i += kWide) {
    const __m256 v = _mm256_loadu_ps(in + i);
    _mm256_storeu_ps(words + i, _mm256_blendv_ps(v, nan, _mm256_cmp_ps(v, v, _CMP_UNORD_Q)));
  }
}

void pack_matrix(void* out, const double* in, unsigned count, ScalarType) {
  std::memcpy(out, in, count * sizeof *in);
}

void pack_matrix(void* out, const std::int32_t* in, unsigned count, ScalarType) {
  std::memcpy(out, in, count * sizeof *in);
}

}  // namespace warpgrind::jit
