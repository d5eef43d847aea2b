// Vector operations on lane addresses: AVX-512, and portable code.
#include "device/access/lane_vectors.h"

#include <bit>
#include <cstring>

#include "base/cpu.h"
#include "base/sanitizers.h"

namespace warpgrind::device {

namespace {

const std::uint8_t* at(std::uint64_t address) {
  return reinterpret_cast<const std::uint8_t*>(address);
}

// ---- AVX-512

WG_AVX512 Extent extent_avx512(const std::uint64_t* a, LaneMask mask) {
  __m512i low = _mm512_set1_epi64(-1), high = _mm512_setzero_si512(), bits = _mm512_setzero_si512();
  for (unsigned k = 0; k < 4; ++k) {
    const auto m = static_cast<__mmask8>(mask >> (8 * k));
    const __m512i v = _mm512_loadu_si512(a + 8 * k);
    low = _mm512_mask_min_epu64(low, m, low, v);
    high = _mm512_mask_max_epu64(high, m, high, v);
    bits = _mm512_mask_or_epi64(bits, m, bits, v);
  }
  return {_mm512_reduce_min_epu64(low), _mm512_reduce_max_epu64(high),
          static_cast<std::uint64_t>(_mm512_reduce_or_epi64(bits))};
}

WG_AVX512 bool same_avx512(const std::int64_t* offsets, const std::uint64_t* a, std::uint64_t origin, LaneMask mask) {
  const __m512i o = _mm512_set1_epi64(static_cast<long long>(origin));
  unsigned differ = 0;
  for (unsigned k = 0; k < 4; ++k) {
    const __m512i v = _mm512_sub_epi64(_mm512_loadu_si512(a + 8 * k), o);
    differ |=
        _mm512_mask_cmpneq_epi64_mask(static_cast<__mmask8>(mask >> (8 * k)), v, _mm512_loadu_si512(offsets + 8 * k));
  }
  return differ == 0;
}

WG_AVX512 void relative_avx512(std::int64_t* offsets, const std::uint64_t* a, std::uint64_t origin, LaneMask mask) {
  const __m512i o = _mm512_set1_epi64(static_cast<long long>(origin));
  for (unsigned k = 0; k < 4; ++k)
    _mm512_storeu_si512(offsets + 8 * k, _mm512_maskz_sub_epi64(static_cast<__mmask8>(mask >> (8 * k)),
                                                                _mm512_loadu_si512(a + 8 * k), o));
}

WG_AVX512 void gather4_avx512(std::uint32_t* out, std::uint64_t origin, const std::uint64_t* a, LaneMask mask,
                              unsigned count) {
  for (unsigned e = 0; e < count; ++e) {
    const auto* base = at(origin + 4 * e);
    for (unsigned k = 0; k < 4; ++k) {
      const auto m = static_cast<__mmask8>(mask >> (8 * k));
      std::uint32_t* to = out + e * kWarpSize + 8 * k;
      const __m256i v = _mm512_mask_i64gather_epi32(_mm256_setzero_si256(), m, _mm512_loadu_si512(a + 8 * k), base, 1);
      _mm256_mask_storeu_epi32(to, m, v);
    }
  }
}

WG_AVX512 void gather8_avx512(std::uint64_t* out, std::uint64_t origin, const std::uint64_t* a, LaneMask mask,
                              unsigned count) {
  for (unsigned e = 0; e < count; ++e) {
    const auto* base = at(origin + 8 * e);
    for (unsigned k = 0; k < 4; ++k) {
      const auto m = static_cast<__mmask8>(mask >> (8 * k));
      const __m512i v = _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), m, _mm512_loadu_si512(a + 8 * k), base, 1);
      _mm512_mask_storeu_epi64(out + e * kWarpSize + 8 * k, m, v);
    }
  }
}

WG_AVX512 void scatter4_avx512(const std::uint32_t* values, std::uint64_t origin, const std::uint64_t* a, LaneMask mask,
                               unsigned count) {
  for (unsigned e = 0; e < count; ++e) {
    auto* base = const_cast<std::uint8_t*>(at(origin + 4 * e));
    for (unsigned k = 0; k < 4; ++k) {
      const auto m = static_cast<__mmask8>(mask >> (8 * k));
      const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(values + e * kWarpSize + 8 * k));
      _mm512_mask_i64scatter_epi32(base, m, _mm512_loadu_si512(a + 8 * k), v, 1);
    }
  }
}

WG_AVX512 void scatter8_avx512(const std::uint64_t* values, std::uint64_t origin, const std::uint64_t* a, LaneMask mask,
                               unsigned count) {
  for (unsigned e = 0; e < count; ++e) {
    auto* base = const_cast<std::uint8_t*>(at(origin + 8 * e));
    for (unsigned k = 0; k < 4; ++k)
      _mm512_mask_i64scatter_epi64(base, static_cast<__mmask8>(mask >> (8 * k)), _mm512_loadu_si512(a + 8 * k),
                                   _mm512_loadu_si512(values + e * kWarpSize + 8 * k), 1);
  }
}

WG_AVX512 void copy_avx512(std::uint8_t* out, const std::uint8_t* from, LaneMask mask, unsigned element) {
  if (element == 4) {
    for (unsigned k = 0; k < 2; ++k) {
      const auto m = static_cast<__mmask16>(mask >> (16 * k));
      _mm512_mask_storeu_epi32(out + 64 * k, m, _mm512_maskz_loadu_epi32(m, from + 64 * k));
    }
    return;
  }
  for (unsigned k = 0; k < 4; ++k) {
    const auto m = static_cast<__mmask8>(mask >> (8 * k));
    _mm512_mask_storeu_epi64(out + 64 * k, m, _mm512_maskz_loadu_epi64(m, from + 64 * k));
  }
}

// ---- Any x86-64

template <unsigned N>
void gather_lanes(std::uint8_t* out, std::uint64_t origin, const std::uint64_t* a, LaneMask mask, unsigned count) {
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const unsigned l = static_cast<unsigned>(std::countr_zero(m));
    const std::uint8_t* from = at(origin + a[l]);
    for (unsigned e = 0; e < count; ++e) std::memcpy(out + (e * kWarpSize + l) * N, from + e * N, N);
  }
}

template <unsigned N>
void scatter_lanes(const std::uint8_t* values, std::uint64_t origin, const std::uint64_t* a, LaneMask mask,
                   unsigned count) {
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const unsigned l = static_cast<unsigned>(std::countr_zero(m));
    auto* to = const_cast<std::uint8_t*>(at(origin + a[l]));
    for (unsigned e = 0; e < count; ++e) std::memcpy(to + e * N, values + (e * kWarpSize + l) * N, N);
  }
}

// ---- Elements of a vector access (ld.v2.u64): all of a lane are moved at once. Programs rely on this behaviour of
// GPUs, which PTX does not promise: CUB's single-pass scans read a value and its flag by one ld.v2.u64 while another
// block writes them.

// Volatile: otherwise compilers split the load.
using Sixteen = std::uint64_t __attribute__((vector_size(16), aligned(1), may_alias));
using Eight = std::uint64_t __attribute__((aligned(1), may_alias));
using Four = std::uint32_t __attribute__((aligned(1), may_alias));

// x86-64 processors with AVX move 16 aligned bytes atomically.
template <unsigned kBytes>
void move_whole(std::uint8_t* to, const std::uint8_t* from) {
  if constexpr (kBytes >= 16) {
    for (unsigned b = 0; b < kBytes; b += 16)
      *reinterpret_cast<volatile Sixteen*>(to + b) = *reinterpret_cast<const volatile Sixteen*>(from + b);
  } else if constexpr (kBytes == 8) {
    *reinterpret_cast<volatile Eight*>(to) = *reinterpret_cast<const volatile Eight*>(from);
  } else if constexpr (kBytes == 4) {
    *reinterpret_cast<volatile Four*>(to) = *reinterpret_cast<const volatile Four*>(from);
  } else {
    std::memcpy(to, from, kBytes);
  }
}

template <unsigned N, unsigned kCount>
void gather_wholes(std::uint8_t* out, std::uint64_t origin, const std::uint64_t* a, LaneMask mask) {
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const unsigned l = static_cast<unsigned>(std::countr_zero(m));
    alignas(16) std::uint8_t whole[N * kCount];
    move_whole<N * kCount>(whole, at(origin + a[l]));
    for (unsigned e = 0; e < kCount; ++e) std::memcpy(out + (e * kWarpSize + l) * N, whole + e * N, N);
  }
}

template <unsigned N, unsigned kCount>
void scatter_wholes(const std::uint8_t* values, std::uint64_t origin, const std::uint64_t* a, LaneMask mask) {
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const unsigned l = static_cast<unsigned>(std::countr_zero(m));
    alignas(16) std::uint8_t whole[N * kCount];
    for (unsigned e = 0; e < kCount; ++e) std::memcpy(whole + e * N, values + (e * kWarpSize + l) * N, N);
    move_whole<N * kCount>(const_cast<std::uint8_t*>(at(origin + a[l])), whole);
  }
}

// false: not a vector size of PTX
template <unsigned N>
bool gather_vectors(std::uint8_t* out, std::uint64_t origin, const std::uint64_t* a, LaneMask mask, unsigned count) {
  if (count == 2) return gather_wholes<N, 2>(out, origin, a, mask), true;
  if (count == 4) return gather_wholes<N, 4>(out, origin, a, mask), true;
  if (count == 8) return gather_wholes<N, 8>(out, origin, a, mask), true;
  return false;
}

template <unsigned N>
bool scatter_vectors(const std::uint8_t* values, std::uint64_t origin, const std::uint64_t* a, LaneMask mask,
                     unsigned count) {
  if (count == 2) return scatter_wholes<N, 2>(values, origin, a, mask), true;
  if (count == 4) return scatter_wholes<N, 4>(values, origin, a, mask), true;
  if (count == 8) return scatter_wholes<N, 8>(values, origin, a, mask), true;
  return false;
}

}  // namespace

Extent extent_of(const std::uint64_t* a, LaneMask mask) {
  if (kHaveAvx512) return extent_avx512(a, mask);
  Extent x{~0ull, 0, 0};
  for (unsigned l = 0; l < kWarpSize; ++l) {
    const bool on = (mask >> l) & 1;
    const std::uint64_t low = on ? a[l] : ~0ull, high = on ? a[l] : 0;
    x.low = low < x.low ? low : x.low;
    x.high = high > x.high ? high : x.high;
    x.bits |= high;
  }
  return x;
}

bool same_offsets(const std::int64_t* offsets, const std::uint64_t* a, std::uint64_t origin, LaneMask mask) {
  // Different patterns usually differ in their last lane.
  const int last = std::bit_width(mask) - 1;
  if (last >= 0 && static_cast<std::int64_t>(a[last] - origin) != offsets[last]) return false;
  if (kHaveAvx512) return same_avx512(offsets, a, origin, mask);
  std::uint64_t differ = 0;
  for (unsigned l = 0; l < kWarpSize; ++l)
    differ |= (((mask >> l) & 1) ? a[l] - origin : 0) ^ static_cast<std::uint64_t>(offsets[l]);
  return differ == 0;  // offsets of inactive lanes are 0
}

void relative_offsets(std::int64_t* offsets, const std::uint64_t* a, std::uint64_t origin, LaneMask mask) {
  if (kHaveAvx512) return relative_avx512(offsets, a, origin, mask);
  for (unsigned l = 0; l < kWarpSize; ++l)
    offsets[l] = ((mask >> l) & 1) ? static_cast<std::int64_t>(a[l] - origin) : 0;
}

WG_AVX512 bool lanes_in_window_avx512(const LaneWindow& window, const std::uint64_t* a, LaneMask mask,
                                      std::uint32_t* offsets) {
  const __m512i low = _mm512_set1_epi64(static_cast<long long>(window.low));
  const __m512i places = _mm512_set1_epi64(static_cast<long long>(window.places));
  const __m512i by = _mm512_set1_epi64(window.shift);
  unsigned bad = 0;
  for (unsigned k = 0; k < kWarpSize; k += 8) {
    const auto on = static_cast<__mmask8>(mask >> k);
    const __m512i distance = _mm512_sub_epi64(_mm512_loadu_si512(a + k), low);
    bad |= _mm512_mask_cmpge_epu64_mask(on, _mm512_rorv_epi64(distance, by), places);
    const __m256i offset = _mm512_mask_cvtepi64_epi32(_mm256_set1_epi32(-1), on, distance);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(offsets + k), offset);
  }
  return bad == 0;
}

bool lanes_in_window_avx2(const LaneWindow& window, const std::uint64_t* a, LaneMask mask, std::uint32_t* offsets) {
  const __m256i low = _mm256_set1_epi64x(static_cast<long long>(window.low)), sign = _mm256_set1_epi64x(INT64_MIN);
  const __m256i last = _mm256_xor_si256(_mm256_set1_epi64x(static_cast<long long>(window.places - 1)), sign);
  const __m128i right = _mm_cvtsi32_si128(static_cast<int>(window.shift));
  const __m128i left = _mm_cvtsi32_si128(static_cast<int>(64 - window.shift));
  const __m256i low_halves = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7), bits = _mm256_setr_epi64x(1, 2, 4, 8);
  __m256i bad = _mm256_setzero_si256();
  for (unsigned k = 0; k < kWarpSize; k += 4) {
    const __m256i on = _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_set1_epi64x(mask >> k), bits), bits);
    const __m256i address = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(a + k));
    const __m256i distance = _mm256_sub_epi64(address, low);
    const __m256i place = _mm256_or_si256(_mm256_srl_epi64(distance, right), _mm256_sll_epi64(distance, left));
    bad = _mm256_or_si256(bad, _mm256_and_si256(on, _mm256_cmpgt_epi64(_mm256_xor_si256(place, sign), last)));
    const __m256i offset = _mm256_or_si256(distance, _mm256_xor_si256(on, _mm256_set1_epi64x(-1)));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(offsets + k),
                     _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(offset, low_halves)));
  }
  return _mm256_testz_si256(bad, bad) != 0;
}

bool lanes_in_window(const LaneWindow& window, const std::uint64_t* a, LaneMask mask, std::uint32_t* offsets) {
  return kHaveAvx512 ? lanes_in_window_avx512(window, a, mask, offsets)
                     : lanes_in_window_avx2(window, a, mask, offsets);
}

void gather(void* out, std::uint64_t origin, const std::uint64_t* a, LaneMask mask, unsigned element, unsigned count) {
  const NotWatched guard;
  auto* bytes = static_cast<std::uint8_t*>(out);
  switch (element) {
    case 1:
      if (gather_vectors<1>(bytes, origin, a, mask, count)) return;
      return gather_lanes<1>(bytes, origin, a, mask, count);
    case 2:
      if (gather_vectors<2>(bytes, origin, a, mask, count)) return;
      return gather_lanes<2>(bytes, origin, a, mask, count);
    case 4:
      if (gather_vectors<4>(bytes, origin, a, mask, count)) return;
      if (kHaveAvx512) return gather4_avx512(static_cast<std::uint32_t*>(out), origin, a, mask, count);
      return gather_lanes<4>(bytes, origin, a, mask, count);
    case 8:
      if (gather_vectors<8>(bytes, origin, a, mask, count)) return;
      if (kHaveAvx512) return gather8_avx512(static_cast<std::uint64_t*>(out), origin, a, mask, count);
      return gather_lanes<8>(bytes, origin, a, mask, count);
    default:
      return gather_lanes<16>(bytes, origin, a, mask, count);
  }
}

void scatter(const void* values, std::uint64_t origin, const std::uint64_t* a, LaneMask mask, unsigned element,
             unsigned count) {
  const NotWatched guard;
  const auto* bytes = static_cast<const std::uint8_t*>(values);
  switch (element) {
    case 1:
      if (scatter_vectors<1>(bytes, origin, a, mask, count)) return;
      return scatter_lanes<1>(bytes, origin, a, mask, count);
    case 2:
      if (scatter_vectors<2>(bytes, origin, a, mask, count)) return;
      return scatter_lanes<2>(bytes, origin, a, mask, count);
    case 4:
      if (scatter_vectors<4>(bytes, origin, a, mask, count)) return;
      if (kHaveAvx512) return scatter4_avx512(static_cast<const std::uint32_t*>(values), origin, a, mask, count);
      return scatter_lanes<4>(bytes, origin, a, mask, count);
    case 8:
      if (scatter_vectors<8>(bytes, origin, a, mask, count)) return;
      if (kHaveAvx512) return scatter8_avx512(static_cast<const std::uint64_t*>(values), origin, a, mask, count);
      return scatter_lanes<8>(bytes, origin, a, mask, count);
    default:
      return scatter_lanes<16>(bytes, origin, a, mask, count);
  }
}

void copy_lanes(void* out, const void* from, LaneMask mask, unsigned element) {
  const NotWatched guard;
  auto* to = static_cast<std::uint8_t*>(out);
  const auto* source = static_cast<const std::uint8_t*>(from);
  if (mask == kFullMask) {
    std::memcpy(to, source, std::size_t{element} * kWarpSize);
    return;
  }
  if (kHaveAvx512 && (element == 4 || element == 8)) return copy_avx512(to, source, mask, element);
  while (mask != 0) {  // runs of adjacent active lanes
    const auto first = static_cast<unsigned>(std::countr_zero(mask));
    const auto length = static_cast<unsigned>(std::countr_one(mask >> first));
    std::memcpy(to + std::size_t{first} * element, source + std::size_t{first} * element,
                std::size_t{length} * element);
    mask &= ~(((length == 32 ? 0u : 1u << length) - 1u) << first);
  }
}

}  // namespace warpgrind::device
