// Multi-function unit in vector code. calls/multi_function_lanes.inc is compiled once for AVX2 and once for AVX-512.
#include "jit/calls/multi_function.h"

#include <bit>
#include <cstddef>
#include <vector>

#include "base/cpu.h"
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

#define WG_LANES [[gnu::always_inline]] WG_EXTENSION inline

namespace avx2 {  // the baseline of all our code

#define WG_EXTENSION
using Words [[gnu::vector_size(32)]] = int;
using Unsigned [[gnu::vector_size(32)]] = unsigned;
using Floats [[gnu::vector_size(32)]] = float;

WG_LANES Words all(int v) {
  return (Words)_mm256_set1_epi32(v);
}
WG_LANES Words sum_of_products16(Words a, Words b) {  // of the two halves of a word
  return (Words)_mm256_madd_epi16((__m256i)a, (__m256i)b);
}
WG_LANES Words sums_of_products8(Words a, Words b) {  // of two pairs of bytes each
  return (Words)_mm256_maddubs_epi16((__m256i)a, (__m256i)b);
}
template <int byte>
WG_LANES Words four_times(Words v) {
  constexpr int b = byte * 0x01010101;
  const Words order = {b, b + 0x04040404, b + 0x08080808, b + 0x0c0c0c0c,
                       b, b + 0x04040404, b + 0x08080808, b + 0x0c0c0c0c};
  return (Words)_mm256_shuffle_epi8((__m256i)v, (__m256i)order);
}
WG_LANES Words truncate(Floats v) {
  return (Words)_mm256_cvttps_epi32(v);
}
WG_LANES Floats floor(Floats v) {
  return _mm256_floor_ps(v);
}

struct Segments {
  Words whole, below, linear, square;
};
WG_LANES __m256i two_rows(const std::int32_t (*rows)[4], int a, int b) {
  const auto* first = reinterpret_cast<const __m128i*>(reinterpret_cast<const char*>(rows) + a);
  const auto* second = reinterpret_cast<const __m128i*>(reinterpret_cast<const char*>(rows) + b);
  return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_load_si128(first)), _mm_load_si128(second), 1);
}
template <const auto& table>
WG_LANES Segments look_up(Words index) {
  alignas(32) unsigned at[8];
  _mm256_store_si256(reinterpret_cast<__m256i*>(at), (__m256i)(index << 4));
  const __m256i a = two_rows(table.rows, at[0], at[4]), b = two_rows(table.rows, at[1], at[5]);
  const __m256i c = two_rows(table.rows, at[2], at[6]), d = two_rows(table.rows, at[3], at[7]);
  const __m256i ab = _mm256_unpacklo_epi32(a, b), cd = _mm256_unpacklo_epi32(c, d);
  const __m256i ab_high = _mm256_unpackhi_epi32(a, b), cd_high = _mm256_unpackhi_epi32(c, d);
  return {(Words)_mm256_unpacklo_epi64(ab, cd), (Words)_mm256_unpackhi_epi64(ab, cd),
          (Words)_mm256_unpacklo_epi64(ab_high, cd_high), (Words)_mm256_unpackhi_epi64(ab_high, cd_high)};
}

#include "jit/calls/multi_function_lanes.inc"

#undef WG_EXTENSION
}  // namespace avx2

namespace avx512 {

#define WG_EXTENSION WG_AVX512
using Words [[gnu::vector_size(64)]] = int;
using Unsigned [[gnu::vector_size(64)]] = unsigned;
using Floats [[gnu::vector_size(64)]] = float;

WG_LANES Words all(int v) {
  return (Words)_mm512_set1_epi32(v);
}
WG_LANES Words sum_of_products16(Words a, Words b) {  // of the two halves of a word
  return (Words)_mm512_madd_epi16((__m512i)a, (__m512i)b);
}
WG_LANES Words sums_of_products8(Words a, Words b) {  // of two pairs of bytes each
  return (Words)_mm512_maddubs_epi16((__m512i)a, (__m512i)b);
}
template <int byte>
WG_LANES Words four_times(Words v) {
  constexpr int b = byte * 0x01010101;
  return (Words)_mm512_shuffle_epi8((__m512i)v, _mm512_set4_epi32(b + 0x0c0c0c0c, b + 0x08080808, b + 0x04040404, b));
}
WG_LANES Words truncate(Floats v) {
  return (Words)_mm512_cvttps_epi32(v);
}
WG_LANES Floats floor(Floats v) {
  return _mm512_floor_ps(v);
}

struct Segments {
  Words whole, below, linear, square;
};
WG_LANES __m512i of_32(const std::int32_t* column, __m512i index) {
  return _mm512_permutex2var_epi32(_mm512_load_si512(column), index, _mm512_load_si512(column + 16));
}
WG_LANES __m512i of_64(const std::int32_t* column, __m512i index, __mmask16 upper) {
  return _mm512_mask_blend_epi32(upper, of_32(column, index), of_32(column + 32, index));
}
template <std::size_t n>
WG_LANES Words of_column(const std::int32_t (&column)[n], __m512i index) {
  const __mmask16 upper = _mm512_test_epi32_mask(index, _mm512_set1_epi32(32));
  const __m512i low = of_64(column, index, upper);
  if constexpr (n == 64) return (Words)low;
  return (Words)_mm512_mask_blend_epi32(_mm512_test_epi32_mask(index, _mm512_set1_epi32(64)), low,
                                        of_64(column + 64, index, upper));
}
template <const auto& table>
WG_LANES Segments look_up(Words index) {
  const auto i = (__m512i)index;
  return {of_column(table.whole, i), of_column(table.below, i), of_column(table.linear, i), of_column(table.square, i)};
}

#include "jit/calls/multi_function_lanes.inc"

#undef WG_EXTENSION
}  // namespace avx512

#undef WG_LANES

}  // namespace

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
