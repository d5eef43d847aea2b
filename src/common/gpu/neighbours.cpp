// Groups of neighbouring lanes in AVX2, and the cache of patterns of texels.
#include "gpu/neighbours.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/vectors.h"

namespace warpgrind {
namespace {

// Counts of each group, valid at least in its first lane.
struct GroupCounts {
  alignas(64) std::int32_t sectors[kWarpSize], lines[kWarpSize], texels[kWarpSize];
};
constexpr std::int32_t kNearColumns = 8, kLeastColumns = kNearColumns + 4;

}  // namespace
}  // namespace warpgrind

#define WG_FOR_VECTORS "gpu/neighbours.inc"
#include "base/for_vectors.inc"

namespace warpgrind {

namespace {

constexpr unsigned kSectorsOfLine = 2;  // a shift: log2 of the sectors of a line
constexpr unsigned kVector = 8;         // lanes of one vector

// Intrinsics and not the operators of base/vectors.h: clang 19 packs the many comparisons of these functions to 16 bits
// if it may combine them, and that takes 12 to 85 % longer.

// Lane l gets the value of lane l - kBy of its group, cyclically.
template <unsigned kGroup, unsigned kBy>
__m256i turned(__m256i v) {
  if constexpr (kBy == 0) return v;
  if constexpr (kGroup == 4) {
    constexpr int kFrom = (4 - kBy) % 4 | (5 - kBy) % 4 << 2 | (6 - kBy) % 4 << 4 | (7 - kBy) % 4 << 6;
    return _mm256_shuffle_epi32(v, kFrom);
  }
  const __m256i from = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  // Only the low three bits count.
  return _mm256_permutevar8x32_epi32(v, _mm256_sub_epi32(from, _mm256_set1_epi32(kBy)));
}

// Lanes of `v` whose value a lower lane of the group has.
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
// Lanes of `v` whose value any lane of the same group of `other` has.
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

}  // namespace

void first_of_neighbours(const std::int32_t (*values)[kWarpSize], unsigned count, unsigned group, LaneMask* first) {
  group == 4 ? firsts<4>(values, count, first) : firsts<8>(values, count, first);
}

namespace {

// The general case: compares all lanes of a group with each other.
void count_far(const GridTexels& t, unsigned group, bool wide, GroupCounts& counts) {
  alignas(64) std::int32_t sectors[kMostOfEach][kWarpSize], lines[kMostOfEach][kWarpSize];
  (wide ? avx512::find_sectors : avx2::find_sectors)(t, sectors);
  for (unsigned k = 0; k < t.corners; ++k)
    for (unsigned l = 0; l < kWarpSize; ++l) lines[k][l] = sectors[k][l] >> kSectorsOfLine;
  LaneMask sector[kMostOfEach], line[kMostOfEach];
  first_of_neighbours(sectors, t.corners, group, sector);
  first_of_neighbours(lines, t.corners, group, line);
  const LaneMask one = (LaneMask{1} << group) - 1;
  for (unsigned first = 0; first < kWarpSize; first += group) {
    const auto of_group = [&](const LaneMask* masks) {
      unsigned sum = 0;
      for (unsigned k = 0; k < t.corners; ++k) sum += static_cast<unsigned>(std::popcount(masks[k] >> first & one));
      return static_cast<std::int32_t>(sum);
    };
    counts.sectors[first] = of_group(sector);
    counts.lines[first] = of_group(line);
    counts.texels[first] = of_group(t.on);
  }
}

void count_groups(const GridTexels& t, unsigned group, bool wide, GroupCounts& counts) {
  // A line may hold the end of one row and the beginning of the next. count_near() requires that columns near each
  // other cannot be both.
  const SectorGrid& g = *t.grid;
  const bool lines_end = g.columns % 4 == 0 && g.skew == 0;
  const bool apart = lines_end || g.columns >= kLeastColumns || g.rows * g.slices == 1;
  if (!apart || !(wide ? avx512::count_near : avx2::count_near)(t, group, counts)) count_far(t, group, wide, counts);
}

}  // namespace

void count_grids(std::span<const GridTexels> texels, unsigned group, GridCounts& counts, bool wide) {
  GroupCounts sum, more;
  count_groups(texels.front(), group, wide, sum);
  for (const GridTexels& t : texels.subspan(1)) {
    count_groups(t, group, wide, more);
    for (unsigned l = 0; l < kWarpSize; l += group) {
      sum.sectors[l] += more.sectors[l];
      sum.lines[l] += more.lines[l];
      sum.texels[l] += more.texels[l];
    }
  }
  const std::int32_t bytes = 1 << texels.front().grid->byte_shift;
  for (unsigned l = 0; l < kWarpSize; l += group) {
    const std::int32_t n = sum.texels[l], sectors = sum.sectors[l];
    constexpr std::int32_t kBytes = kSectorBytes;
    counts.requests += n != 0;
    counts.texels += static_cast<unsigned>(n);
    counts.sectors += static_cast<unsigned>(sectors);
    counts.lines += static_cast<unsigned>(sum.lines[l]);
    counts.ideal_sectors += static_cast<unsigned>(std::min((n * bytes + kBytes - 1) / kBytes, sectors));
  }
}

namespace {

// Everything that decides the cost of a pattern besides the grid: how its texels are read, and the position of the
// first one in its line.
std::uint64_t pattern_kind(const GridTexels& t, unsigned group, unsigned& slot) {
  const SectorGrid& g = *t.grid;
  const std::int32_t x = t.index[0][0][0], y = t.axes > 1 ? t.index[1][0][0] : 0;
  const std::int32_t row = y >> g.row_shift, slice = g.slices > 1 ? t.index[2][0][0] : 0;
  const std::uint32_t column = static_cast<std::uint32_t>(x) & ((4u << g.column_shift >> g.byte_shift) - 1);
  const std::uint32_t side = static_cast<std::uint32_t>(y) & ((1u << g.row_shift) - 1);
  const std::uint32_t begin = static_cast<std::uint32_t>((slice * g.rows + row) * g.columns) & 3;
  // At an edge of the plane, where texels are clamped, patterns differ. The distance of the last lane distinguishes
  // them.
  const auto far = static_cast<std::uint32_t>(t.index[0][0][kWarpSize - 1] - x);
  slot = ((column & 15) | side << 4) + far * 37;
  const std::uint64_t form = t.axes | t.corners << 4 | unsigned{t.corner[0]} << 8 | group << 12;
  return form << 32 | column << 8 | side << 4 | begin;
}

}  // namespace

void GridCounter::count(std::span<const GridTexels> texels, unsigned group, LaneMask mask) {
  // If patterns do not recur, the lookup runs only once in kSeldom calls.
  constexpr std::uint32_t kMissed = 64, kSeldom = 16;
  const bool looks = texels.size() == 1 && (missed_ < kMissed || missed_ % kSeldom == 0);
  const GridTexels& t = texels.front();
  const SectorGrid& g = *t.grid;
  const unsigned sides = t.corners > 1 ? 2 : 1, axes = g.slices > 1 ? 3 : t.axes;
  unsigned slot = 0;
  std::uint64_t kind = 0;
  Pattern* p = nullptr;
  if (looks) {
    kind = pattern_kind(t, group, slot);
    p = &patterns_[slot % kPatterns];
    const bool same = p->kind == kind && p->mask == mask && p->grid == g && std::equal(t.on, t.on + t.corners, p->on);
    if (same && (wide_ ? avx512::is_pattern : avx2::is_pattern)(t, axes, sides, p->texels)) {
      ++p->hits;
      missed_ = 0;
      return;
    }
  }
  ++missed_;
  GridCounts counts;
  count_grids(texels, group, counts, wide_);
  add(counts, g.byte_shift, mask, 1);
  if (!looks) return;
  add(p->counts, p->grid.byte_shift, p->mask, p->hits);
  p->kind = p->hits = 0;
  if (!(wide_ ? avx512::keep_pattern : avx2::keep_pattern)(t, axes, sides, p->texels)) return;
  std::copy_n(t.on, t.corners, p->on);
  p->mask = mask;
  p->kind = kind;
  p->grid = g;
  p->counts = counts;
}

void GridCounter::add(const GridCounts& counts, unsigned byte_shift, LaneMask mask, std::uint64_t times) {
  if (times == 0 || counts.requests == 0) return;
  sums_.counts.add(counts, times);
  sums_.bytes += (counts.texels << byte_shift) * times;
  sums_.warps += times;
  sums_.lanes += static_cast<unsigned>(std::popcount(mask)) * times;
}

GridCounter::Sums GridCounter::take() {
  for (Pattern& p : patterns_) {
    add(p.counts, p.grid.byte_shift, p.mask, p.hits);
    p.hits = 0;
  }
  const Sums sums = sums_;
  sums_ = {};
  return sums;
}

}  // namespace warpgrind
