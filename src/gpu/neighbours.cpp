#include "gpu/neighbours.h"

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace warpgrind {

namespace {

constexpr unsigned kSectorBytes = 32, kSectorShift = 5, kSectorsOfLine = 2;  // the last: a shift
constexpr unsigned kVector = 8;                                              // lanes of one

// Lane l gets the value of lane l - kBy of its group, the last after the first.
template <unsigned kGroup, unsigned kBy>
__m256i turned(__m256i v) {
  if constexpr (kBy == 0) return v;
  if constexpr (kGroup == 4) {
    constexpr int kFrom = (4 - kBy) % 4 | (5 - kBy) % 4 << 2 | (6 - kBy) % 4 << 4 | (7 - kBy) % 4 << 6;
    return _mm256_shuffle_epi32(v, kFrom);
  }
  const __m256i from = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_permutevar8x32_epi32(v, _mm256_sub_epi32(from, _mm256_set1_epi32(kBy)));  // the low three bits count
}

// Lanes of `v` whose value a lower one of the group has.
template <unsigned kGroup, unsigned... kBy>
__m256i in_lower(__m256i v, std::integer_sequence<unsigned, kBy...>) {
  const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
                place = _mm256_and_si256(lane, _mm256_set1_epi32(kGroup - 1));
  __m256i seen = _mm256_setzero_si256();
  ((seen = _mm256_or_si256(seen, _mm256_and_si256(_mm256_cmpgt_epi32(place, _mm256_set1_epi32(kBy)),
                                                  _mm256_cmpeq_epi32(v, turned<kGroup, kBy + 1>(v))))),
   ...);
  return seen;
}
// And whose value some lane of the same group of `other` has.
template <unsigned kGroup, unsigned... kBy>
__m256i in_other(__m256i v, __m256i other, std::integer_sequence<unsigned, kBy...>) {
  __m256i seen = _mm256_setzero_si256();
  ((seen = _mm256_or_si256(seen, _mm256_cmpeq_epi32(v, turned<kGroup, kBy>(other)))), ...);
  return seen;
}

template <unsigned kGroup>
void firsts(const std::int32_t (*values)[kWarpSize], unsigned count, LaneMask* first) {
  std::fill_n(first, count, LaneMask{0});
  for (unsigned l = 0; l < kWarpSize; l += kVector) {
    __m256i vectors[kMostOfEach];
    for (unsigned k = 0; k < count; ++k) {
      const __m256i v = vectors[k] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(values[k] + l));
      __m256i seen = _mm256_or_si256(v, in_lower<kGroup>(v, std::make_integer_sequence<unsigned, kGroup - 1>()));
      for (unsigned before = 0; before < k; ++before)
        seen =
            _mm256_or_si256(seen, in_other<kGroup>(v, vectors[before], std::make_integer_sequence<unsigned, kGroup>()));
      first[k] |= (~static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(seen))) & 0xff) << l;
    }
  }
}

// Lanes of each group, over all masks.
struct Groups {
  unsigned of[kVector] = {};
};
Groups count_groups(const LaneMask* masks, unsigned count, unsigned group) {
  Groups sums;
  const LaneMask one = (LaneMask{1} << group) - 1;
  for (unsigned g = 0; g * group < kWarpSize; ++g)
    for (unsigned k = 0; k < count; ++k)
      sums.of[g] += static_cast<unsigned>(std::popcount(masks[k] >> (g * group) & one));
  return sums;
}

unsigned all(const LaneMask* masks, unsigned count) {
  unsigned sum = 0;
  for (unsigned k = 0; k < count; ++k) sum += static_cast<unsigned>(std::popcount(masks[k]));
  return sum;
}

}  // namespace

void first_of_neighbours(const std::int32_t (*values)[kWarpSize], unsigned count, unsigned group, LaneMask* first) {
  group == 4 ? firsts<4>(values, count, first) : firsts<8>(values, count, first);
}

AccessCost neighbours_cost(const std::int32_t (*place)[kWarpSize], const LaneMask* on, unsigned count, unsigned group,
                           std::uint32_t skew, unsigned bytes, unsigned& requests) {
  alignas(64) std::int32_t sectors[kMostOfEach][kWarpSize], lines[kMostOfEach][kWarpSize];
  for (unsigned k = 0; k < count; ++k)
    for (unsigned l = 0; l < kWarpSize; ++l) {
      const std::int32_t off = static_cast<std::int32_t>(on[k] >> l & 1) - 1;
      sectors[k][l] = (place[k][l] + static_cast<std::int32_t>(skew)) >> kSectorShift | off;
      lines[k][l] = sectors[k][l] >> kSectorsOfLine;
    }
  LaneMask sector[kMostOfEach], line[kMostOfEach];
  first_of_neighbours(sectors, count, group, sector);
  first_of_neighbours(lines, count, group, line);
  const Groups lanes = count_groups(on, count, group), touched = count_groups(sector, count, group);
  AccessCost cost;
  requests = 0;
  for (unsigned g = 0; g < kVector; ++g) {
    requests += lanes.of[g] != 0;
    cost.ideal_sectors += std::min((lanes.of[g] * bytes + kSectorBytes - 1) / kSectorBytes, touched.of[g]);
  }
  cost.sectors = cost.distinct_sectors = cost.transactions = all(sector, count);
  cost.lines = cost.distinct_lines = all(line, count);
  cost.bytes_moved = cost.sectors * kSectorBytes;
  cost.bytes_asked = std::uint64_t{all(on, count)} * bytes;
  return cost;
}

}  // namespace warpgrind
