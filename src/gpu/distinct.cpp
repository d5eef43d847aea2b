#include "gpu/distinct.h"

#include <immintrin.h>

#include <bit>
#include <cstring>

namespace warpgrind {

// A table of 64 slots, in rounds: what finds its slot taken by another key waits for the next round.
Distinct distinct(const std::uint64_t* keys, const std::uint8_t* parts, unsigned n) {
  constexpr unsigned kSlots = 64;
  constexpr std::uint64_t kHash = 0x9e3779b97f4a7c15ull;  // 2^64 / golden ratio
  std::uint64_t taken[kSlots], left_keys[kWarpSize];
  std::uint8_t left_parts[kWarpSize];
  alignas(32) std::uint8_t seen[kSlots];  // parts of the key in the slot; 0: free
  Distinct sum;
  while (n != 0) {
    std::memset(seen, 0, sizeof seen);
    unsigned left = 0;
    for (unsigned i = 0; i < n; ++i) {
      const std::uint64_t key = keys[i];
      const std::uint8_t part = parts[i];
      const std::uint64_t slot = key * kHash >> 58;
      const bool mine = (seen[slot] == 0) | (taken[slot] == key);
      taken[slot] = mine ? key : taken[slot];
      seen[slot] = static_cast<std::uint8_t>(seen[slot] | (mine ? part : 0));
      left_keys[left] = key;
      left_parts[left] = part;
      left += !mine;
    }
    for (unsigned w = 0; w < kSlots; w += 8) {
      std::uint64_t eight;
      std::memcpy(&eight, seen + w, sizeof eight);
      sum.parts += static_cast<unsigned>(std::popcount(eight));
    }
    for (unsigned w = 0; w < kSlots; w += 32) {
      const __m256i slots = _mm256_load_si256(reinterpret_cast<const __m256i*>(seen + w));
      const __m256i free = _mm256_cmpeq_epi8(slots, _mm256_setzero_si256());
      sum.keys += static_cast<unsigned>(std::popcount(~static_cast<std::uint32_t>(_mm256_movemask_epi8(free))));
    }
    keys = left_keys;
    parts = left_parts;
    n = left;
  }
  return sum;
}

unsigned most_rows(const std::uint64_t* entries, unsigned n, unsigned unit_bits, unsigned row_shift) {
  std::uint64_t left[kWarpSize], rows[kWarpSize];
  const std::uint64_t low = (std::uint64_t{1} << unit_bits) - 1;
  unsigned rounds = 0;
  while (n != 0) {
    ++rounds;
    std::uint32_t busy = 0;
    unsigned waiting = 0;
    for (unsigned i = 0; i < n; ++i) {
      const std::uint64_t entry = entries[i], unit = entry & low, row = entry >> row_shift;
      const bool taken = (busy >> unit & 1) != 0;
      const bool other = taken & (rows[unit] != row);
      rows[unit] = taken ? rows[unit] : row;
      busy |= 1u << unit;
      left[waiting] = entry;
      waiting += other;
    }
    entries = left;
    n = waiting;
  }
  return rounds;
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
  if (high - low < 64 * 4) {  // small arrays: one bit a word
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
  std::uint64_t keys[kWarpSize];
  std::uint8_t parts[kWarpSize];
  unsigned n = 0;
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    keys[n] = static_cast<std::uint64_t>(offsets[lane] - low) >> 2;
    parts[n++] = static_cast<std::uint8_t>(1u << (lane / 8));
  }
  const Distinct d = distinct(keys, parts, n);
  return {d.keys, d.parts};
}

}  // namespace warpgrind
