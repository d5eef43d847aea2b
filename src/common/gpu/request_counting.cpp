// Vector operations of request_counting.inc for AVX2 and AVX-512, and the choice between them.
#include "gpu/request_counting.h"

#include "base/cpu.h"

namespace warpgrind {

namespace {

namespace avx2 {

constexpr unsigned kWidth = 8;
using Vector = __m256i;
#define WG_INLINE inline __attribute__((always_inline))
#define WG_TARGET

WG_INLINE Vector all(std::uint32_t x) {
  return _mm256_set1_epi32(static_cast<int>(x));
}
WG_INLINE Vector least(Vector a, Vector b) {
  return _mm256_min_epu32(a, b);
}
WG_INLINE Vector most_of(Vector a, Vector b) {
  return _mm256_max_epu32(a, b);
}
WG_INLINE Vector plus(Vector a, Vector b) {
  return _mm256_add_epi32(a, b);
}
WG_INLINE Vector minus(Vector a, Vector b) {
  return _mm256_sub_epi32(a, b);
}
WG_INLINE Vector both(Vector a, Vector b) {
  return _mm256_and_si256(a, b);
}
WG_INLINE Vector either(Vector a, Vector b) {
  return _mm256_or_si256(a, b);
}
WG_INLINE Vector differ(Vector a, Vector b) {
  return _mm256_xor_si256(a, b);
}
WG_INLINE Vector down(Vector a, unsigned bits) {
  return _mm256_srl_epi32(a, _mm_cvtsi32_si128(static_cast<int>(bits)));
}
WG_INLINE Vector up(Vector a, unsigned bits) {
  return _mm256_sll_epi32(a, _mm_cvtsi32_si128(static_cast<int>(bits)));
}
// where_zero: c where x is 0, else 0. where_not_zero: the opposite. where_positive: c where the highest bit of x is
// clear, else 0.
WG_INLINE Vector where_zero(Vector x, Vector c) {
  return _mm256_and_si256(_mm256_cmpeq_epi32(x, _mm256_setzero_si256()), c);
}
WG_INLINE Vector where_not_zero(Vector x, Vector c) {
  return _mm256_andnot_si256(_mm256_cmpeq_epi32(x, _mm256_setzero_si256()), c);
}
WG_INLINE Vector where_positive(Vector x, Vector c) {
  return _mm256_andnot_si256(_mm256_srai_epi32(x, 31), c);
}
// bit: 1 << x, or 0 for x above 31. bits_of_bytes: population count of each byte. sums_of_bytes: sum of the bytes of
// each entry.
WG_INLINE Vector bit(Vector x) {
  return _mm256_sllv_epi32(_mm256_set1_epi32(1), x);
}
WG_INLINE Vector bits_of_bytes(Vector v) {
  const Vector table = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
  const Vector nibble = _mm256_set1_epi8(15);
  return _mm256_add_epi8(_mm256_shuffle_epi8(table, _mm256_and_si256(v, nibble)),
                         _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(v, 4), nibble)));
}
WG_INLINE Vector sums_of_bytes(Vector v) {
  return _mm256_madd_epi16(_mm256_maddubs_epi16(v, _mm256_set1_epi8(1)), _mm256_set1_epi16(1));
}
WG_INLINE void store(std::uint32_t* to, Vector v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), v);
}
// Four lanes of requests k, k + 4, ...: one request in each 128-bit quarter.
WG_INLINE Vector quarters(const std::uint32_t (*rows)[kWarpSize], unsigned k, unsigned lane) {
  const auto four = [&](unsigned r) { return _mm_load_si128(reinterpret_cast<const __m128i*>(&rows[r][lane])); };
  return _mm256_inserti128_si256(_mm256_castsi128_si256(four(k)), four(k + 4), 1);
}
WG_INLINE Vector low_pairs(Vector a, Vector b) {
  return _mm256_unpacklo_epi32(a, b);
}
WG_INLINE Vector high_pairs(Vector a, Vector b) {
  return _mm256_unpackhi_epi32(a, b);
}
WG_INLINE Vector low_halves(Vector a, Vector b) {
  return _mm256_unpacklo_epi64(a, b);
}
WG_INLINE Vector high_halves(Vector a, Vector b) {
  return _mm256_unpackhi_epi64(a, b);
}

#include "gpu/request_counting.inc"

}  // namespace avx2

namespace avx512 {

constexpr unsigned kWidth = 16;
using Vector = __m512i;
#undef WG_INLINE
#undef WG_TARGET
#define WG_INLINE inline WG_AVX512 __attribute__((always_inline))
#define WG_TARGET WG_AVX512

WG_INLINE Vector all(std::uint32_t x) {
  return _mm512_set1_epi32(static_cast<int>(x));
}
WG_INLINE Vector least(Vector a, Vector b) {
  return _mm512_min_epu32(a, b);
}
WG_INLINE Vector most_of(Vector a, Vector b) {
  return _mm512_max_epu32(a, b);
}
WG_INLINE Vector plus(Vector a, Vector b) {
  return _mm512_add_epi32(a, b);
}
WG_INLINE Vector minus(Vector a, Vector b) {
  return _mm512_sub_epi32(a, b);
}
WG_INLINE Vector both(Vector a, Vector b) {
  return _mm512_and_si512(a, b);
}
WG_INLINE Vector either(Vector a, Vector b) {
  return _mm512_or_si512(a, b);
}
WG_INLINE Vector differ(Vector a, Vector b) {
  return _mm512_xor_si512(a, b);
}
WG_INLINE Vector down(Vector a, unsigned bits) {
  return _mm512_srl_epi32(a, _mm_cvtsi32_si128(static_cast<int>(bits)));
}
WG_INLINE Vector up(Vector a, unsigned bits) {
  return _mm512_sll_epi32(a, _mm_cvtsi32_si128(static_cast<int>(bits)));
}
WG_INLINE Vector where_zero(Vector x, Vector c) {
  return _mm512_maskz_mov_epi32(_mm512_testn_epi32_mask(x, x), c);
}
WG_INLINE Vector where_not_zero(Vector x, Vector c) {
  return _mm512_maskz_mov_epi32(_mm512_test_epi32_mask(x, x), c);
}
WG_INLINE Vector where_positive(Vector x, Vector c) {
  return _mm512_andnot_si512(_mm512_srai_epi32(x, 31), c);
}
WG_INLINE Vector bit(Vector x) {
  return _mm512_sllv_epi32(_mm512_set1_epi32(1), x);
}
WG_INLINE Vector bits_of_bytes(Vector v) {
  const Vector table = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
  const Vector nibble = _mm512_set1_epi8(15);
  return _mm512_add_epi8(_mm512_shuffle_epi8(table, _mm512_and_si512(v, nibble)),
                         _mm512_shuffle_epi8(table, _mm512_and_si512(_mm512_srli_epi16(v, 4), nibble)));
}
WG_INLINE Vector sums_of_bytes(Vector v) {
  return _mm512_madd_epi16(_mm512_maddubs_epi16(v, _mm512_set1_epi8(1)), _mm512_set1_epi16(1));
}
WG_INLINE void store(std::uint32_t* to, Vector v) {
  _mm512_storeu_si512(to, v);
}
WG_INLINE Vector quarters(const std::uint32_t (*rows)[kWarpSize], unsigned k, unsigned lane) {
  const auto four = [&](unsigned r)
                        WG_AVX512 { return _mm_load_si128(reinterpret_cast<const __m128i*>(&rows[r][lane])); };
  __m512i v = _mm512_castsi128_si512(four(k));
  v = _mm512_inserti32x4(v, four(k + 4), 1);
  v = _mm512_inserti32x4(v, four(k + 8), 2);
  return _mm512_inserti32x4(v, four(k + 12), 3);
}
WG_INLINE Vector low_pairs(Vector a, Vector b) {
  return _mm512_unpacklo_epi32(a, b);
}
WG_INLINE Vector high_pairs(Vector a, Vector b) {
  return _mm512_unpackhi_epi32(a, b);
}
WG_INLINE Vector low_halves(Vector a, Vector b) {
  return _mm512_unpacklo_epi64(a, b);
}
WG_INLINE Vector high_halves(Vector a, Vector b) {
  return _mm512_unpackhi_epi64(a, b);
}

#include "gpu/request_counting.inc"

}  // namespace avx512

}  // namespace

const RequestCounting& request_counting_avx2() {
  return avx2::kCounting;
}

const RequestCounting& request_counting_avx512() {
  return avx512::kCounting;
}

const RequestCounting& request_counting() {
  return kHaveAvx512 ? request_counting_avx512() : request_counting_avx2();
}

}  // namespace warpgrind
