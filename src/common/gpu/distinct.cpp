// Pairwise comparison of lanes in AVX2.
#include "gpu/distinct.h"

#include <immintrin.h>

#include <bit>

#include "base/assert.h"

namespace warpgrind {

namespace {

constexpr unsigned kEight = 8, kVectors = kWarpSize / kEight;

__m256i vector_at(const std::uint32_t* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}

// One 32-bit entry per lane, in whole vectors up to the last active lane. Inactive lanes hold the entry of the first
// active one, which changes no count of distinct entries.
struct LaneEntries {
  alignas(32) std::uint32_t of[kWarpSize];
  unsigned vectors;

  // entry(h, the four lanes of one half of vector h) returns 64 bits per lane; the low 32 are kept.
  template <class F>
  LaneEntries(const std::int64_t* offsets, LaneMask mask, F&& entry)
      : vectors((static_cast<unsigned>(std::bit_width(mask)) + kEight - 1) / kEight) {
    const __m256i low_halves = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
    for (unsigned h = 0; h < vectors; ++h) {
      const auto half = [&](unsigned k) {
        const __m256i four = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(offsets + h * kEight + k));
        return _mm256_permutevar8x32_epi32(entry(h, four), low_halves);
      };
      store(h, _mm256_permute2x128_si256(half(0), half(4), 0x20));
    }
    if ((mask & (mask + 1)) == 0 && mask >> (kEight * vectors - 1) != 0) return;
    const __m256i bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    const __m256i first = _mm256_set1_epi32(static_cast<int>(of[std::countr_zero(mask)]));
    for (unsigned h = 0; h < vectors; ++h) {
      const __m256i lanes = _mm256_and_si256(_mm256_set1_epi32(static_cast<int>(mask >> (h * kEight))), bits);
      store(h, _mm256_blendv_epi8(first, vector(h), _mm256_cmpeq_epi32(lanes, bits)));
    }
  }
  __m256i vector(unsigned h) const { return vector_at(of + h * kEight); }
  void store(unsigned h, __m256i v) { _mm256_store_si256(reinterpret_cast<__m256i*>(of + h * kEight), v); }
};

// For each of the eight lanes of vector h: the smallest value of its entry XOR an earlier lane's entry. 0 if an earlier
// lane has the same entry. Below 2^k if an earlier entry differs only in the low k bits.
__m256i least_difference(const LaneEntries& e, unsigned h) {
  // All ones for lanes that are not behind lane r of the same vector: eight entries from [7 - r] on.
  alignas(32) static constexpr std::uint32_t kNotBehind[2 * kEight] = {~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u};
  const __m256i mine = e.vector(h);
  __m256i least = _mm256_set1_epi32(-1);
  for (unsigned i = 0; i < h * kEight; ++i) {
    const __m256i other = _mm256_set1_epi32(static_cast<int>(e.of[i]));
    least = _mm256_min_epu32(least, _mm256_xor_si256(mine, other));
  }
  for (unsigned r = 0; r + 1 < kEight; ++r) {
    const __m256i other = _mm256_set1_epi32(static_cast<int>(e.of[h * kEight + r]));
    const __m256i not_behind = vector_at(kNotBehind + kEight - 1 - r);
    least = _mm256_min_epu32(least, _mm256_or_si256(_mm256_xor_si256(mine, other), not_behind));
  }
  return least;
}

unsigned zeroes(__m256i v) {
  const __m256i zero = _mm256_cmpeq_epi32(v, _mm256_setzero_si256());
  return static_cast<unsigned>(std::popcount(static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(zero)))));
}

Distinct count_distinct(const LaneEntries& e, unsigned part_bits) {
  const __m128i shift = _mm_cvtsi32_si128(static_cast<int>(part_bits));
  Distinct sum;
  for (unsigned h = 0; h < e.vectors; ++h) {
    const __m256i least = least_difference(e, h);
    sum.parts += kEight - zeroes(least);
    sum.wholes += kEight - zeroes(_mm256_srl_epi32(least, shift));
  }
  return sum;
}

}  // namespace

Distinct distinct(const std::int64_t offsets[kWarpSize], LaneMask mask, std::int64_t low, unsigned shift,
                  unsigned part_bits) {
  WG_DEBUG_ASSERT(mask != 0);
  const __m256i origin = _mm256_set1_epi64x(low);
  const __m128i by = _mm_cvtsi32_si128(static_cast<int>(shift));
  const auto entry = [&](unsigned, __m256i four) { return _mm256_srl_epi64(_mm256_sub_epi64(four, origin), by); };
  return count_distinct(LaneEntries(offsets, mask, entry), part_bits);
}

unsigned most_rows(const std::int64_t* offsets, LaneMask mask, unsigned unit_shift, unsigned unit_bits,
                   unsigned row_shift) {
  if (mask == 0) return 0;
  WG_DEBUG_ASSERT(unit_bits <= 5);
  const auto skipped = static_cast<unsigned>(std::countr_zero(mask)) / kEight * kEight;
  offsets += skipped;
  mask >>= skipped;
  const __m128i by = _mm_cvtsi32_si128(static_cast<int>(unit_shift));
  const __m128i row = _mm_cvtsi32_si128(static_cast<int>(row_shift + unit_shift));
  const __m128i unit = _mm_cvtsi32_si128(static_cast<int>(unit_bits));
  const __m256i low = _mm256_set1_epi64x((1 << unit_bits) - 1);
  const LaneEntries e(offsets, mask, [&](unsigned, __m256i four) {  // row and unit; the bits between them are left out
    const __m256i rows = _mm256_sll_epi64(_mm256_srl_epi64(four, row), unit);
    return _mm256_or_si256(rows, _mm256_and_si256(_mm256_srl_epi64(four, by), low));
  });
  // The unit of each distinct entry, and -1 for repeated entries: 32 bytes.
  __m256i units[kVectors];
  for (unsigned h = 0; h < kVectors; ++h) {
    units[h] = _mm256_set1_epi32(-1);
    if (h >= e.vectors) continue;
    const __m256i again = _mm256_cmpeq_epi32(least_difference(e, h), _mm256_setzero_si256());
    units[h] = _mm256_or_si256(_mm256_and_si256(e.vector(h), _mm256_set1_epi32((1 << unit_bits) - 1)), again);
  }
  const __m256i all =
      _mm256_packs_epi16(_mm256_packs_epi32(units[0], units[1]), _mm256_packs_epi32(units[2], units[3]));
  alignas(32) std::int8_t unit_of[kWarpSize];
  _mm256_store_si256(reinterpret_cast<__m256i*>(unit_of), all);
  __m256i times = _mm256_setzero_si256();   // for each entry: minus the number of entries with its unit
  for (unsigned h = 0; h < e.vectors; ++h)  // packs puts four entries of a vector here, four into the other half
    for (unsigned k = 4 * h; k < 4 * h + 4; ++k) {
      times = _mm256_add_epi8(times, _mm256_cmpeq_epi8(all, _mm256_set1_epi8(unit_of[k])));
      times = _mm256_add_epi8(times, _mm256_cmpeq_epi8(all, _mm256_set1_epi8(unit_of[16 + k])));
    }
  times = _mm256_or_si256(times, _mm256_cmpeq_epi8(all, _mm256_set1_epi8(-1)));  // repeated entries count as -1
  // The largest number of entries is 256 minus the smallest unsigned byte.
  const __m128i half = _mm_min_epu8(_mm256_castsi256_si128(times), _mm256_extracti128_si256(times, 1));
  const __m128i least = _mm_minpos_epu16(_mm_min_epu8(half, _mm_srli_epi16(half, 8)));
  return 256 - static_cast<unsigned>(_mm_cvtsi128_si32(least) & 0xff);
}

LocalWords local_words(const std::int64_t offsets[kWarpSize], LaneMask mask) {
  if (mask == 0) return {};
  std::int64_t low = INT64_MAX, high = INT64_MIN;
  for (unsigned l = 0; l < kWarpSize; ++l) {
    const bool on = (mask >> l & 1) != 0;
    low = on && offsets[l] < low ? offsets[l] : low;
    high = on && offsets[l] > high ? offsets[l] : high;
  }
  low &= ~std::int64_t{3};
  if (high - low < 64 * 4) {  // small arrays: one bit per word
    const __m256i origin = _mm256_set1_epi64x(low), one = _mm256_set1_epi64x(1);
    const __m256i lane_bits = _mm256_setr_epi64x(1, 2, 4, 8);
    std::uint64_t all = 0;
    LocalWords sum;
    for (unsigned group = 0; group < kWarpSize; group += 8) {
      __m256i used = _mm256_setzero_si256();
      for (unsigned half = 0; half < 8; half += 4) {
        const __m256i at = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(offsets + group + half));
        const __m256i bit = _mm256_sllv_epi64(one, _mm256_srli_epi64(_mm256_sub_epi64(at, origin), 2));
        const __m256i lanes = _mm256_and_si256(_mm256_set1_epi64x(mask >> (group + half)), lane_bits);
        used = _mm256_or_si256(used, _mm256_and_si256(bit, _mm256_cmpeq_epi64(lanes, lane_bits)));
      }
      const __m128i two = _mm_or_si128(_mm256_castsi256_si128(used), _mm256_extracti128_si256(used, 1));
      const auto words = static_cast<std::uint64_t>(_mm_cvtsi128_si64(two) | _mm_extract_epi64(two, 1));
      sum.in_groups += static_cast<unsigned>(std::popcount(words));
      all |= words;
    }
    sum.words = static_cast<unsigned>(std::popcount(all));
    return sum;
  }
  const __m256i origin = _mm256_set1_epi64x(low), whole = _mm256_set1_epi64x(~std::int64_t{3});
  const auto entry = [&](unsigned h, __m256i four) {  // the word, with its group in the two bits below
    const __m256i word = _mm256_and_si256(_mm256_sub_epi64(four, origin), whole);
    return _mm256_or_si256(word, _mm256_set1_epi64x(h));
  };
  const Distinct d = count_distinct(LaneEntries(offsets, mask, entry), 2);
  return {d.wholes, d.parts};
}

}  // namespace warpgrind
