// Multi-function unit in vector code. calls/multi_function_lanes.inc is compiled once for AVX2 and once for AVX-512.
#include "jit/calls/multi_function.h"

#include <bit>
#include <cstddef>
#include <vector>

#include "base/vectors.h"
#include "gpu/types.h"
#include "jit/calls/symbols.h"

namespace warpgrind::jit {

namespace {

struct Segment {
  std::int64_t constant;
  std::int32_t linear, square;
};
#include "jit/calls/multi_function_tables.inc"

constexpr int kNaN = 0x7fffffff, kInfinity = 0x7f800000, kMagnitude = 0x7fffffff, kFraction = 0x7fffff;
constexpr int kSmallest = 0x00800000;  // smallest number that the unit does not treat as 0
constexpr int kLimit = std::bit_cast<int>(255.0f);
constexpr int kFractionBits = 23, kUnitBits = 17;  // unit of a sum: 2^-17 of the last of 24 bits
constexpr int kOffsetBits = 17;                    // offset of an argument in its segment
constexpr int kBias = 127;
constexpr float power_of_two(int n) {
  return std::bit_cast<float>((n + kBias) << kFractionBits);
}

// Segments in the two layouts for look-up: by rows (one load a lane), and by columns (held in registers). The constant
// is whole * 2^17 + below.
template <std::size_t n>
struct Table {
  static constexpr std::size_t kRows = n;
  alignas(64) std::int32_t rows[n][4];
  alignas(64) std::int32_t whole[n], below[n], linear[n], square[n];
};

template <std::size_t... counts>
constexpr auto table_of(const Segment (&... parts)[counts]) {
  Table<(counts + ...)> t{};
  std::size_t n = 0;
  const auto add = [&](const auto& part) {
    for (const Segment& s : part) {
      t.rows[n][0] = t.whole[n] = static_cast<std::int32_t>(s.constant >> kUnitBits);
      t.rows[n][1] = t.below[n] = static_cast<std::int32_t>(s.constant & ((1 << kUnitBits) - 1));
      t.rows[n][2] = t.linear[n] = s.linear;
      t.rows[n][3] = t.square[n] = 2 * s.square;
      ++n;
    }
  };
  (add(parts), ...);
  return t;
}

constexpr auto kReciprocalTable = table_of(kReciprocal);
constexpr auto kReciprocalRootTable = table_of(kReciprocalRootLow, kReciprocalRootHigh);
constexpr auto kRootTable = table_of(kRootLow, kRootHigh);
constexpr auto kLogarithmTable = table_of(kLogarithm);
constexpr auto kExponentialTable = table_of(kExponential);
constexpr auto kSineTable = table_of(kSine);

using Function = void (*)(float* out, const float* in);
struct Versions {
  Function all_lanes;  // 32
  Function one_lane;   // reads and writes a whole vector; only the first lane counts
};

}  // namespace

}  // namespace warpgrind::jit

// look_up(): the segments of the indexes. AVX2 loads a row for each lane, AVX-512 looks up in columns.
namespace warpgrind::avx2 {

namespace {

struct Segments {
  Ints whole, below, linear, square;
};
template <const auto& table>
WG_INLINE_AVX2 Segments look_up(Ints index) {
  std::int32_t at[kWidth];
  Ints word[4];
  store(index << 4, at);
  load_words(reinterpret_cast<const std::uint8_t*>(table.rows), at, word);
  return {word[0], word[1], word[2], word[3]};
}

}  // namespace

}  // namespace warpgrind::avx2

namespace warpgrind::avx512 {

namespace {

struct Segments {
  Ints whole, below, linear, square;
};
WG_INLINE_AVX512 __m512i of_32(const std::int32_t* column, __m512i index) {
  return _mm512_permutex2var_epi32(_mm512_load_si512(column), index, _mm512_load_si512(column + 16));
}
WG_INLINE_AVX512 __m512i of_64(const std::int32_t* column, __m512i index, __mmask16 upper) {
  return _mm512_mask_blend_epi32(upper, of_32(column, index), of_32(column + 32, index));
}
template <std::size_t n>
WG_INLINE_AVX512 Ints of_column(const std::int32_t (&column)[n], __m512i index) {
  const __mmask16 upper = _mm512_test_epi32_mask(index, _mm512_set1_epi32(32));
  const __m512i low = of_64(column, index, upper);
  if constexpr (n == 64) return reinterpret_cast<Ints>(low);
  return reinterpret_cast<Ints>(_mm512_mask_blend_epi32(_mm512_test_epi32_mask(index, _mm512_set1_epi32(64)), low,
                                                        of_64(column + 64, index, upper)));
}
template <const auto& table>
WG_INLINE_AVX512 Segments look_up(Ints index) {
  const auto i = reinterpret_cast<__m512i>(index);
  return {of_column(table.whole, i), of_column(table.below, i), of_column(table.linear, i), of_column(table.square, i)};
}

}  // namespace

}  // namespace warpgrind::avx512

#define WG_FOR_VECTORS "jit/calls/multi_function_lanes.inc"
#include "base/for_vectors.inc"

namespace warpgrind::jit {

bool has(VectorExtension extension) {
  return extension == VectorExtension::avx2 || kHaveAvx512;
}

void multi_function(MultiFunction function, VectorExtension extension, float* out, const float* in) {
  const auto f = static_cast<std::size_t>(function);
  (extension == VectorExtension::avx512 ? avx512::kFunctions : avx2::kFunctions)[f].all_lanes(out, in);
}

void register_multi_function_symbols() {
  const Versions* best = kHaveAvx512 ? avx512::kFunctions : avx2::kFunctions;
  std::vector<CallSymbol> symbols;
#define WG_SYMBOL(name)                                                                                     \
  {                                                                                                         \
    const auto f = static_cast<std::size_t>(MultiFunction::name);                                           \
    symbols.push_back({"wg_mufu_" #name, reinterpret_cast<void*>(best[f].all_lanes)});                      \
    symbols.push_back({"wg_mufu_" #name "_of_one", reinterpret_cast<void*>(avx2::kFunctions[f].one_lane)}); \
  }
  WG_SYMBOL(reciprocal)
  WG_SYMBOL(reciprocal_root)
  WG_SYMBOL(root)
  WG_SYMBOL(logarithm)
  WG_SYMBOL(exponential)
  WG_SYMBOL(sine)
  WG_SYMBOL(cosine)
#undef WG_SYMBOL
  register_call_symbols(symbols);
}

}  // namespace warpgrind::jit
