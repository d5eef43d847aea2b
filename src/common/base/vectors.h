// Vectors of lanes for two kinds of CPUs: avx2 (x86-64-v3, the baseline of all our code) and avx512 (kHaveAvx512), with
// the same names in both namespaces. This is the only layer over the CPU's vectors. A file with code for both kinds is
// included once in each namespace by base/for_vectors.inc. Code for one kind uses the types of that namespace.
//
// Arithmetic, comparisons (all bits or none) and choices use C++ operators, which gcc and clang define for vectors.
// Here are the operations that differ, by instructions or by width; base/vector_operations.inc builds the others on
// them. Intrinsics remain in code for AVX-512 alone (masks, gathers: device/access/lane_vectors.cpp), in conversions of
// matrix elements (jit/calls/matrix_elements.cpp), and where clang makes slow code of operators (gpu/neighbours.cpp).
//
// Google's Highway 1.0.3 (Debian 12) was tried on gpu/request_counting.inc. The code was as fast, but for one function
// that was 3 to 10 % slower on AVX2. The file took 4.0 s to compile instead of 1.6 s, and 60 lines of wrappers stayed.
// Highway lacks masked gathers and scatters, products of bytes (maddubs) and look-ups in two vectors, so intrinsics
// would stay. Choices would be calls instead of `?:`.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/cpu.h"

#define WG_INLINE_AVX2 inline __attribute__((always_inline))
#define WG_INLINE_AVX512 inline WG_AVX512 __attribute__((always_inline))
// Goes before a loop of few, constant iterations: unrolled, its arrays stay in registers.
#ifdef __clang__
#define WG_UNROLL _Pragma("clang loop unroll(full)")
#else
#define WG_UNROLL _Pragma("GCC unroll 16")
#endif

namespace warpgrind {

namespace avx2 {

inline constexpr unsigned kWidth = 8;     // lanes
inline constexpr unsigned kQuarters = 2;  // parts of 128 bits
using Quarter = std::int32_t __attribute__((vector_size(16)));
using Bytes = std::uint8_t __attribute__((vector_size(32)));
using Ints = std::int32_t __attribute__((vector_size(32)));
using Words = std::uint32_t __attribute__((vector_size(32)));
using Longs = std::uint64_t __attribute__((vector_size(32)));  // half as many lanes
using Floats = float __attribute__((vector_size(32)));
using Doubles = double __attribute__((vector_size(32)));  // half as many lanes

// v << by, or 0 where `by` is above 31, which C++ does not define.
WG_INLINE_AVX2 Words shifted_up(Words v, Words by) {
  return reinterpret_cast<Words>(_mm256_sllv_epi32(reinterpret_cast<__m256i>(v), reinterpret_cast<__m256i>(by)));
}
// 1 << by, or 0 where the result has no such bit.
WG_INLINE_AVX2 Ints bit(Ints by) {
  return reinterpret_cast<Ints>(_mm256_sllv_epi32(_mm256_set1_epi32(1), reinterpret_cast<__m256i>(by)));
}
WG_INLINE_AVX2 Longs bit(Longs by) {
  return reinterpret_cast<Longs>(_mm256_sllv_epi64(_mm256_set1_epi64x(1), reinterpret_cast<__m256i>(by)));
}
// The same four words in each quarter.
WG_INLINE_AVX2 Ints repeated(int a, int b, int c, int d) {
  return reinterpret_cast<Ints>(_mm256_setr_epi32(a, b, c, d, a, b, c, d));
}
// Byte i of each quarter becomes byte index[i] of that quarter. The bytes of index are in [0, 15].
WG_INLINE_AVX2 Ints shuffled_bytes(Ints v, Ints index) {
  return reinterpret_cast<Ints>(_mm256_shuffle_epi8(reinterpret_cast<__m256i>(v), reinterpret_cast<__m256i>(index)));
}
// Sums of products of two neighbours: signed 16-bit numbers; unsigned bytes of a with signed bytes of b, saturated.
WG_INLINE_AVX2 Ints sum_of_products16(Ints a, Ints b) {
  return reinterpret_cast<Ints>(_mm256_madd_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
}
WG_INLINE_AVX2 Ints sums_of_products8(Ints a, Ints b) {
  return reinterpret_cast<Ints>(_mm256_maddubs_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
}
// signs(): mask of the lanes whose sign bit is set. lanes_of(): the inverse, all bits set in the lanes of the mask.
WG_INLINE_AVX2 std::uint32_t signs(Ints v) {
  return static_cast<std::uint32_t>(_mm256_movemask_ps(reinterpret_cast<__m256>(v)));
}
WG_INLINE_AVX2 Ints lanes_of(std::uint32_t mask) {
  const Ints bit_of_lane = {1, 2, 4, 8, 16, 32, 64, 128};
  return (bit_of_lane & static_cast<std::int32_t>(mask)) != 0;
}
// Exchanges lanes that are 1, 2 or 4 apart.
template <unsigned kBy>
WG_INLINE_AVX2 Ints swapped(Ints v) {
  const auto of = reinterpret_cast<__m256i>(v);
  if constexpr (kBy == 4) return reinterpret_cast<Ints>(_mm256_permute2x128_si256(of, of, 1));
  return reinterpret_cast<Ints>(_mm256_shuffle_epi32(of, kBy == 1 ? 0xb1 : 0x4e));
}
// Differences of 32 values to `from`, as bytes with saturation, in a fixed but unspecified order.
struct Packed {
  __m256i half[2];
};
WG_INLINE_AVX2 __m256i packed(const std::int32_t* values, __m256i from) {
  const auto eight = [&](unsigned k) {
    return _mm256_sub_epi32(_mm256_load_si256(reinterpret_cast<const __m256i*>(values + 8 * k)), from);
  };
  return _mm256_packs_epi16(_mm256_packs_epi32(eight(0), eight(1)), _mm256_packs_epi32(eight(2), eight(3)));
}
WG_INLINE_AVX2 Packed packed(const std::int32_t* a, const std::int32_t* b, std::int32_t from) {
  return {packed(a, _mm256_set1_epi32(from)), packed(b, _mm256_set1_epi32(from))};
}
WG_INLINE_AVX2 bool same(const Packed& p, const void* as) {
  const auto* const other = static_cast<const __m256i*>(as);
  const __m256i differ = _mm256_or_si256(_mm256_xor_si256(p.half[0], _mm256_load_si256(other)),
                                         _mm256_xor_si256(p.half[1], _mm256_load_si256(other + 1)));
  return _mm256_testz_si256(differ, differ);
}
WG_INLINE_AVX2 void store(const Packed& p, void* to) {
  _mm256_store_si256(static_cast<__m256i*>(to), p.half[0]);
  _mm256_store_si256(static_cast<__m256i*>(to) + 1, p.half[1]);
}
WG_INLINE_AVX2 bool saturated(const Packed& p) {
  const __m256i most = _mm256_max_epi8(p.half[0], p.half[1]), least = _mm256_min_epi8(p.half[0], p.half[1]);
  const __m256i ends =
      _mm256_or_si256(_mm256_cmpeq_epi8(most, _mm256_set1_epi8(127)), _mm256_cmpeq_epi8(least, _mm256_set1_epi8(-128)));
  return !_mm256_testz_si256(ends, ends);
}
WG_INLINE_AVX2 Floats floor(Floats v) {
  return _mm256_floor_ps(v);
}
WG_INLINE_AVX2 Ints to_ints(Floats v) {  // rounds towards zero
  return reinterpret_cast<Ints>(_mm256_cvttps_epi32(v));
}
// low_: lower half of the lanes; high_: upper half.
WG_INLINE_AVX2 Doubles low_doubles(Floats v) {
  return _mm256_cvtps_pd(_mm256_castps256_ps128(v));
}
WG_INLINE_AVX2 Doubles high_doubles(Floats v) {
  return _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1));
}
WG_INLINE_AVX2 Doubles low_doubles(Ints v) {
  return _mm256_cvtepi32_pd(_mm256_castsi256_si128(reinterpret_cast<__m256i>(v)));
}
WG_INLINE_AVX2 Doubles high_doubles(Ints v) {
  return _mm256_cvtepi32_pd(_mm256_extracti128_si256(reinterpret_cast<__m256i>(v), 1));
}
WG_INLINE_AVX2 Floats joined(Doubles low, Doubles high) {
  return _mm256_set_m128(_mm256_cvtpd_ps(high), _mm256_cvtpd_ps(low));
}
WG_INLINE_AVX2 Doubles sum_of_product(Doubles a, Doubles b, Doubles c) {
  return _mm256_fmadd_pd(a, b, c);
}
// 64-bit products of the even lanes with one number.
WG_INLINE_AVX2 Longs even_products(Ints a, std::int32_t b) {
  return reinterpret_cast<Longs>(_mm256_mul_epi32(reinterpret_cast<__m256i>(a), _mm256_set1_epi32(b)));
}
// The low halves of both products, as lanes in the original order.
WG_INLINE_AVX2 Ints zipped(Longs even, Longs odd) {
  return reinterpret_cast<Ints>(
      _mm256_blend_epi32(reinterpret_cast<__m256i>(even), reinterpret_cast<__m256i>(odd << 32), 0xaa));
}
// Of each quarter of a and b: the lower or upper two words, alternating; the lower or upper halves; the words with even
// or with odd numbers.
WG_INLINE_AVX2 Ints low_pairs(Ints a, Ints b) {
  return reinterpret_cast<Ints>(_mm256_unpacklo_epi32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
}
WG_INLINE_AVX2 Ints high_pairs(Ints a, Ints b) {
  return reinterpret_cast<Ints>(_mm256_unpackhi_epi32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
}
WG_INLINE_AVX2 Ints low_halves(Ints a, Ints b) {
  return reinterpret_cast<Ints>(_mm256_unpacklo_epi64(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
}
WG_INLINE_AVX2 Ints high_halves(Ints a, Ints b) {
  return reinterpret_cast<Ints>(_mm256_unpackhi_epi64(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
}
WG_INLINE_AVX2 Ints even_words(Ints a, Ints b) {
  return reinterpret_cast<Ints>(_mm256_shuffle_ps(reinterpret_cast<__m256>(a), reinterpret_cast<__m256>(b), 0x88));
}
WG_INLINE_AVX2 Ints odd_words(Ints a, Ints b) {
  return reinterpret_cast<Ints>(_mm256_shuffle_ps(reinterpret_cast<__m256>(a), reinterpret_cast<__m256>(b), 0xdd));
}
WG_INLINE_AVX2 Ints joined(const Quarter (&of)[kQuarters]) {
  return reinterpret_cast<Ints>(_mm256_set_m128i(reinterpret_cast<__m128i>(of[1]), reinterpret_cast<__m128i>(of[0])));
}

}  // namespace avx2

namespace avx512 {

inline constexpr unsigned kWidth = 16;
inline constexpr unsigned kQuarters = 4;
using Quarter = std::int32_t __attribute__((vector_size(16)));
using Bytes = std::uint8_t __attribute__((vector_size(64)));
using Ints = std::int32_t __attribute__((vector_size(64)));
using Words = std::uint32_t __attribute__((vector_size(64)));
using Longs = std::uint64_t __attribute__((vector_size(64)));
using Floats = float __attribute__((vector_size(64)));
using Doubles = double __attribute__((vector_size(64)));

WG_INLINE_AVX512 Words shifted_up(Words v, Words by) {
  return reinterpret_cast<Words>(_mm512_sllv_epi32(reinterpret_cast<__m512i>(v), reinterpret_cast<__m512i>(by)));
}
WG_INLINE_AVX512 Ints bit(Ints by) {
  return reinterpret_cast<Ints>(_mm512_sllv_epi32(_mm512_set1_epi32(1), reinterpret_cast<__m512i>(by)));
}
WG_INLINE_AVX512 Longs bit(Longs by) {
  return reinterpret_cast<Longs>(_mm512_sllv_epi64(_mm512_set1_epi64(1), reinterpret_cast<__m512i>(by)));
}
WG_INLINE_AVX512 Ints repeated(int a, int b, int c, int d) {
  return reinterpret_cast<Ints>(_mm512_setr4_epi32(a, b, c, d));
}
WG_INLINE_AVX512 Ints shuffled_bytes(Ints v, Ints index) {
  return reinterpret_cast<Ints>(_mm512_shuffle_epi8(reinterpret_cast<__m512i>(v), reinterpret_cast<__m512i>(index)));
}
WG_INLINE_AVX512 Ints sum_of_products16(Ints a, Ints b) {
  return reinterpret_cast<Ints>(_mm512_madd_epi16(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
}
WG_INLINE_AVX512 Ints sums_of_products8(Ints a, Ints b) {
  return reinterpret_cast<Ints>(_mm512_maddubs_epi16(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
}
WG_INLINE_AVX512 std::uint32_t signs(Ints v) {
  return _mm512_movepi32_mask(reinterpret_cast<__m512i>(v));
}
WG_INLINE_AVX512 Ints lanes_of(std::uint32_t mask) {
  return reinterpret_cast<Ints>(_mm512_movm_epi32(static_cast<__mmask16>(mask)));
}
template <unsigned kBy>
WG_INLINE_AVX512 Ints swapped(Ints v) {
  const auto of = reinterpret_cast<__m512i>(v);
  if constexpr (kBy == 4) return reinterpret_cast<Ints>(_mm512_shuffle_i32x4(of, of, 0xb1));
  return reinterpret_cast<Ints>(_mm512_shuffle_epi32(of, static_cast<_MM_PERM_ENUM>(kBy == 1 ? 0xb1 : 0x4e)));
}
struct Packed {
  __m512i both;
};
WG_INLINE_AVX512 __m512i packed(const std::int32_t* values, __m512i from) {
  return _mm512_packs_epi32(_mm512_sub_epi32(_mm512_load_si512(values), from),
                            _mm512_sub_epi32(_mm512_load_si512(values + 16), from));
}
WG_INLINE_AVX512 Packed packed(const std::int32_t* a, const std::int32_t* b, std::int32_t from) {
  return {_mm512_packs_epi16(packed(a, _mm512_set1_epi32(from)), packed(b, _mm512_set1_epi32(from)))};
}
WG_INLINE_AVX512 bool same(const Packed& p, const void* as) {
  return _mm512_cmpneq_epi64_mask(p.both, _mm512_load_si512(as)) == 0;
}
WG_INLINE_AVX512 void store(const Packed& p, void* to) {
  _mm512_store_si512(to, p.both);
}
WG_INLINE_AVX512 bool saturated(const Packed& p) {
  return (_mm512_cmpeq_epi8_mask(p.both, _mm512_set1_epi8(127)) |
          _mm512_cmpeq_epi8_mask(p.both, _mm512_set1_epi8(-128))) != 0;
}
WG_INLINE_AVX512 Floats floor(Floats v) {
  return _mm512_roundscale_ps(v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}
WG_INLINE_AVX512 Ints to_ints(Floats v) {
  return reinterpret_cast<Ints>(_mm512_cvttps_epi32(v));
}
WG_INLINE_AVX512 Doubles low_doubles(Floats v) {
  return _mm512_cvtps_pd(_mm512_castps512_ps256(v));
}
WG_INLINE_AVX512 Doubles high_doubles(Floats v) {
  return _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1));
}
WG_INLINE_AVX512 Doubles low_doubles(Ints v) {
  return _mm512_cvtepi32_pd(_mm512_castsi512_si256(reinterpret_cast<__m512i>(v)));
}
WG_INLINE_AVX512 Doubles high_doubles(Ints v) {
  return _mm512_cvtepi32_pd(_mm512_extracti32x8_epi32(reinterpret_cast<__m512i>(v), 1));
}
WG_INLINE_AVX512 Floats joined(Doubles low, Doubles high) {
  return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(low)), _mm512_cvtpd_ps(high), 1);
}
WG_INLINE_AVX512 Doubles sum_of_product(Doubles a, Doubles b, Doubles c) {
  return _mm512_fmadd_pd(a, b, c);
}
WG_INLINE_AVX512 Longs even_products(Ints a, std::int32_t b) {
  return reinterpret_cast<Longs>(_mm512_mul_epi32(reinterpret_cast<__m512i>(a), _mm512_set1_epi32(b)));
}
WG_INLINE_AVX512 Ints zipped(Longs even, Longs odd) {
  return reinterpret_cast<Ints>(
      _mm512_mask_blend_epi32(0xaaaa, reinterpret_cast<__m512i>(even), reinterpret_cast<__m512i>(odd << 32)));
}
WG_INLINE_AVX512 Ints low_pairs(Ints a, Ints b) {
  return reinterpret_cast<Ints>(_mm512_unpacklo_epi32(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
}
WG_INLINE_AVX512 Ints high_pairs(Ints a, Ints b) {
  return reinterpret_cast<Ints>(_mm512_unpackhi_epi32(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
}
WG_INLINE_AVX512 Ints low_halves(Ints a, Ints b) {
  return reinterpret_cast<Ints>(_mm512_unpacklo_epi64(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
}
WG_INLINE_AVX512 Ints high_halves(Ints a, Ints b) {
  return reinterpret_cast<Ints>(_mm512_unpackhi_epi64(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
}
WG_INLINE_AVX512 Ints even_words(Ints a, Ints b) {
  return reinterpret_cast<Ints>(_mm512_shuffle_ps(reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(b), 0x88));
}
WG_INLINE_AVX512 Ints odd_words(Ints a, Ints b) {
  return reinterpret_cast<Ints>(_mm512_shuffle_ps(reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(b), 0xdd));
}
WG_INLINE_AVX512 Ints joined(const Quarter (&of)[kQuarters]) {
  const __m256i low = _mm256_set_m128i(reinterpret_cast<__m128i>(of[1]), reinterpret_cast<__m128i>(of[0])),
                high = _mm256_set_m128i(reinterpret_cast<__m128i>(of[3]), reinterpret_cast<__m128i>(of[2]));
  return reinterpret_cast<Ints>(_mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1));
}

}  // namespace avx512

}  // namespace warpgrind

#define WG_FOR_VECTORS "base/vector_operations.inc"
#include "base/for_vectors.inc"
