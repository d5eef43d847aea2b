// Pairwise comparison of lanes in AVX2.
#include "gpu/distinct.h"

#include <bit>

#include "base/assert.h"
#include "base/vectors.h"

namespace warpgrind {

namespace avx2 {

namespace {

constexpr unsigned kVectors = kWarpSize / kWidth;

// One 32-bit entry per lane, in whole vectors up to the last active lane. Inactive lanes hold the entry of the first
// active one, which changes no count of distinct entries.
struct LaneEntries {
  alignas(32) std::uint32_t of[kWarpSize];
  unsigned vectors;

  // entry(h, the four lanes of one half of vector h) returns 64 bits per lane; the low 32 are kept.
  template <class F>
  LaneEntries(const std::int64_t* offsets, LaneMask mask, F&& entry)
      : vectors((static_cast<unsigned>(std::bit_width(mask)) + kWidth - 1) / kWidth) {
    for (unsigned h = 0; h < vectors; ++h) {
      const auto half = [&](unsigned k) { return words(entry(h, loaded<Longs>(offsets + h * kWidth + k))); };
      put(h, __builtin_shufflevector(half(0), half(4), 0, 2, 4, 6, 8, 10, 12, 14));
    }
    if ((mask & (mask + 1)) == 0 && mask >> (kWidth * vectors - 1) != 0) return;
    const Words first = all(of[std::countr_zero(mask)]);
    for (unsigned h = 0; h < vectors; ++h) put(h, lanes_of(mask >> (h * kWidth)) ? vector(h) : first);
  }
  Words vector(unsigned h) const { return loaded<Words>(of + h * kWidth); }
  void put(unsigned h, Words v) { store(v, of + h * kWidth); }
};

// For each of the eight lanes of vector h: the smallest value of its entry XOR an earlier lane's entry. 0 if an earlier
// lane has the same entry. Below 2^k if an earlier entry differs only in the low k bits.
Words least_difference(const LaneEntries& e, unsigned h) {
  // All ones for lanes that are not behind lane r of the same vector: eight entries from [7 - r] on.
  alignas(32) static constexpr std::uint32_t kNotBehind[2 * kWidth] = {~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u};
  const Words mine = e.vector(h);
  Words so_far = all(~0u);
  for (unsigned i = 0; i < h * kWidth; ++i) so_far = least(so_far, mine ^ e.of[i]);
  for (unsigned r = 0; r + 1 < kWidth; ++r)
    so_far = least(so_far, (mine ^ e.of[h * kWidth + r]) | loaded<Words>(kNotBehind + kWidth - 1 - r));
  return so_far;
}

unsigned zeroes(Words v) {
  return static_cast<unsigned>(std::popcount(signs(v == 0)));
}

Distinct count_distinct(const LaneEntries& e, unsigned part_bits) {
  Distinct sum;
  for (unsigned h = 0; h < e.vectors; ++h) {
    const Words difference = least_difference(e, h);
    sum.parts += kWidth - zeroes(difference);
    sum.wholes += kWidth - zeroes(difference >> part_bits);
  }
  return sum;
}

using SignedBytes [[gnu::vector_size(32)]] = std::int8_t;
// All lanes as bytes with saturation. Four lanes of each vector are in the lower half, in order, and four in the upper.
SignedBytes packed(const Ints (&v)[kVectors]) {
  const auto pair = [&](unsigned k) {
    return _mm256_packs_epi32(reinterpret_cast<__m256i>(v[k]), reinterpret_cast<__m256i>(v[k + 1]));
  };
  return reinterpret_cast<SignedBytes>(_mm256_packs_epi16(pair(0), pair(2)));
}
// The smallest byte, as an unsigned number.
unsigned least_byte(SignedBytes v) {
  const auto bytes = reinterpret_cast<__m256i>(v);
  const __m128i half = _mm_min_epu8(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1));
  const __m128i least = _mm_minpos_epu16(_mm_min_epu8(half, _mm_srli_epi16(half, 8)));
  return static_cast<unsigned>(_mm_cvtsi128_si32(least) & 0xff);
}

}  // namespace

}  // namespace avx2

Distinct distinct(const std::int64_t offsets[kWarpSize], LaneMask mask, std::int64_t low, unsigned shift,
                  unsigned part_bits) {
  WG_DEBUG_ASSERT(mask != 0);
  const auto entry = [&](unsigned, avx2::Longs four) { return (four - static_cast<std::uint64_t>(low)) >> shift; };
  return avx2::count_distinct(avx2::LaneEntries(offsets, mask, entry), part_bits);
}

unsigned most_rows(const std::int64_t* offsets, LaneMask mask, unsigned unit_shift, unsigned unit_bits,
                   unsigned row_shift) {
  if (mask == 0) return 0;
  WG_DEBUG_ASSERT(unit_bits <= 5);
  using namespace avx2;
  const auto skipped = static_cast<unsigned>(std::countr_zero(mask)) / kWidth * kWidth;
  offsets += skipped;
  mask >>= skipped;
  const std::uint32_t low = (1u << unit_bits) - 1;
  const LaneEntries e(offsets, mask, [&](unsigned, Longs four) {  // row and unit; the bits between them are left out
    return four >> (row_shift + unit_shift) << unit_bits | (four >> unit_shift & std::uint64_t{low});
  });
  // The unit of each distinct entry, and -1 for repeated entries: 32 bytes.
  Ints units[kVectors];
  for (unsigned h = 0; h < kVectors; ++h)
    units[h] = h < e.vectors ? ints(e.vector(h) & low) | (least_difference(e, h) == 0) : all(-1);
  const SignedBytes of_all = packed(units);
  alignas(32) std::int8_t unit_of[kWarpSize];
  store(of_all, unit_of);
  SignedBytes times = {};                   // for each entry: minus the number of entries with its unit
  for (unsigned h = 0; h < e.vectors; ++h)  // packed() puts four entries of a vector here, four into the other half
    for (unsigned k = 4 * h; k < 4 * h + 4; ++k) {
      times += of_all == unit_of[k];
      times += of_all == unit_of[16 + k];
    }
  times |= of_all == -1;  // repeated entries count as -1
  return 256 - least_byte(times);
}

LocalWords local_words(const std::int64_t offsets[kWarpSize], LaneMask mask) {
  using namespace avx2;
  if (mask == 0) return {};
  std::int64_t low = INT64_MAX, high = INT64_MIN;
  for (unsigned l = 0; l < kWarpSize; ++l) {
    const bool on = (mask >> l & 1) != 0;
    low = on && offsets[l] < low ? offsets[l] : low;
    high = on && offsets[l] > high ? offsets[l] : high;
  }
  low &= ~std::int64_t{3};
  const auto origin = static_cast<std::uint64_t>(low);
  if (high - low < 64 * 4) {  // small arrays: one bit per word
    const Longs lane_bits = {1, 2, 4, 8};
    std::uint64_t all_words = 0;
    LocalWords sum;
    for (unsigned group = 0; group < kWarpSize; group += 8) {
      Longs used = {};
      for (unsigned half = 0; half < 8; half += 4) {
        const Longs word = (loaded<Longs>(offsets + group + half) - origin) >> 2;
        const auto on = (lane_bits & std::uint64_t{mask >> (group + half)}) != 0;
        used |= reinterpret_cast<Longs>(on) & bit(word);
      }
      const std::uint64_t of_group = used[0] | used[1] | used[2] | used[3];
      sum.in_groups += static_cast<unsigned>(std::popcount(of_group));
      all_words |= of_group;
    }
    sum.words = static_cast<unsigned>(std::popcount(all_words));
    return sum;
  }
  const auto entry = [&](unsigned h, Longs four) {  // the word, with its group in the two bits below
    return ((four - origin) & ~std::uint64_t{3}) | std::uint64_t{h};
  };
  const Distinct d = count_distinct(LaneEntries(offsets, mask, entry), 2);
  return {d.wholes, d.parts};
}

}  // namespace warpgrind
