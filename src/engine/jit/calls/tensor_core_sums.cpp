// Sums of a tensor core in AVX2 vector code, eight columns at a time.
#include "jit/calls/tensor_core_sums.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "base/assert.h"
#include "base/per_thread.h"
#include "base/vectors.h"
#include "gpu/half.h"

namespace warpgrind::jit {

using ptx::ScalarType;

namespace {

constexpr unsigned kColumnsOfSum = avx2::kWidth;
constexpr int kBiasOfFloat = 127, kFractionOfFloat = 23;  // of f32
constexpr std::int32_t kOfZero = -1 << 12;  // exponent of a zero: below every other, also as one of two factors
constexpr unsigned kTermsOfInteger = 8;     // aligned products that an s32 can add: each is below 2^28

int smallest_exponent(ScalarType type) {
  if (type == ScalarType::f16 || type == ScalarType::e5m2) return -14;
  if (type == ScalarType::e4m3) return -6;
  if (type == ScalarType::e3m2) return -2;
  if (type == ScalarType::e2m3 || type == ScalarType::e2m1 || type == ScalarType::e2m1x2) return 0;
  return -126;  // bf16, tf32, f32
}

struct SplitFloats {
  avx2::Floats significand;
  avx2::Ints exponent;
};

SplitFloats split_floats(avx2::Floats x, int smallest) {
  const avx2::Ints bits = avx2::ints(x), field = bits >> kFractionOfFloat & 255;
  const avx2::Ints exponent = field - kBiasOfFloat, low = avx2::all(smallest);
  // 2^-smallest; at most 2^126.
  const avx2::Floats scale = avx2::floats(avx2::all((kBiasOfFloat - smallest) << kFractionOfFloat));
  const avx2::Floats normal = avx2::floats((bits & ~(255 << kFractionOfFloat)) | kBiasOfFloat << kFractionOfFloat);
  const avx2::Ints is_small = exponent < low, is_zero = (bits & INT32_MAX) == 0;
  const avx2::Floats significand = avx2::floats((is_small & avx2::ints(x * scale)) | (~is_small & avx2::ints(normal)));
  const avx2::Ints kept = (is_small & low) | (~is_small & exponent);
  return {significand, (is_zero & kOfZero) | (~is_zero & kept)};
}

// 2^exponent for exponents of doubles.
avx2::Doubles double_power(__m128i exponent) {
  return reinterpret_cast<avx2::Doubles>(
      _mm256_slli_epi64(_mm256_cvtepi32_epi64(_mm_add_epi32(exponent, _mm_set1_epi32(1023))), 52));
}

// The sum as f32 with `fraction` bits of fraction, the rest cut off. odd: a result that lost bits gets an odd last bit
// instead, so that a second rounding, to f16, is right. A tensor core never gives -0.
avx2::Floats rounded_sums(avx2::Doubles low, avx2::Doubles high, unsigned fraction, bool odd) {
  const __m256d sums[2] = {reinterpret_cast<__m256d>(low), reinterpret_cast<__m256d>(high)};
  __m128 halves[2];
  for (unsigned h = 0; h < 2; ++h) {
    const __m256d magnitude = _mm256_andnot_pd(_mm256_set1_pd(-0.0), sums[h]);
    // Bits that count: those of the fraction, and of a subnormal result fewer.
    const __m256i mask = _mm256_set1_epi64x(static_cast<long long>(~0ull << (52 - fraction)));
    __m256d cut = _mm256_and_pd(sums[h], _mm256_castsi256_pd(mask));
    const __m256d small = _mm256_cmp_pd(magnitude, _mm256_set1_pd(0x1p-126), _CMP_LT_OQ);
    if (_mm256_movemask_pd(small)) {
      const double unit = std::ldexp(1.0, -126 - static_cast<int>(fraction));
      const __m256d units =
          _mm256_round_pd(_mm256_mul_pd(sums[h], _mm256_set1_pd(1 / unit)), _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
      cut = _mm256_blendv_pd(cut, _mm256_mul_pd(units, _mm256_set1_pd(unit)), small);
    }
    halves[h] = _mm_add_ps(_mm256_cvtpd_ps(cut), _mm_setzero_ps());  // -0 becomes 0
    if (odd) {
      const __m256i lost = _mm256_castpd_si256(_mm256_cmp_pd(cut, sums[h], _CMP_NEQ_OQ));
      const __m128i words =
          _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(lost, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6)));
      halves[h] = _mm_or_ps(halves[h], _mm_castsi128_ps(_mm_and_si128(words, _mm_set1_epi32(1))));
      const __m128 size = _mm_andnot_ps(_mm_set1_ps(-0.0f), halves[h]);
      halves[h] = _mm_and_ps(halves[h], _mm_cmpgt_ps(size, _mm_set1_ps(0x1p-25f)));  // the rest rounds to 0
    }
  }
  return reinterpret_cast<avx2::Floats>(_mm256_set_m128(halves[1], halves[0]));
}

// Factors as significands in (-2, 2) and exponents. A subnormal number has the exponent of its type's smallest normal
// number, as a tensor core does not normalise it. A zero has an exponent below all others.
struct SplitFactors {
  std::vector<float> significands;
  std::vector<std::int32_t> exponents;
  std::int32_t least = 0, greatest = 0;  // exponent of a number that is not zero
  bool finite = true;

  void read(const float* numbers, std::size_t count, ScalarType type) {
    WG_ASSERT(count % kColumnsOfSum == 0);
    significands.resize(count);
    exponents.resize(count);
    const int smallest = smallest_exponent(type);
    avx2::Ints wild{}, low = avx2::all(INT32_MAX), high = avx2::all(INT32_MIN);
    for (std::size_t i = 0; i < count; i += kColumnsOfSum) {
      const auto x = avx2::loaded<avx2::Floats>(numbers + i);
      const SplitFloats s = split_floats(x, smallest);
      avx2::store(s.significand, significands.data() + i);
      avx2::store(s.exponent, exponents.data() + i);
      wild |= (avx2::ints(x) >> kFractionOfFloat & 255) == 255;
      const avx2::Ints is_zero = s.exponent == kOfZero;
      low = avx2::least(low, s.exponent | (is_zero & INT32_MAX));
      high = avx2::greatest(high, s.exponent);
    }
    finite = avx2::signs(wild) == 0;
    least = INT32_MAX, greatest = INT32_MIN;
    for (unsigned l = 0; l < kColumnsOfSum; ++l) {
      if (low[l] > kOfZero) least = std::min(least, low[l]);
      greatest = std::max(greatest, high[l]);
    }
  }
};

// Eight columns of b, by depth, packed: lines of a wide matrix would fall into few sets of the CPU's cache.
struct ColumnsOfFactor {
  static constexpr unsigned kMostDepth = 128;
  alignas(32) float numbers[kMostDepth * kColumnsOfSum], significands[kMostDepth * kColumnsOfSum];
  alignas(32) std::int32_t exponents[kMostDepth * kColumnsOfSum];
};

struct FactorNumbers {
  SplitFactors a, b;
  const float* rows = nullptr;  // a itself
  ColumnsOfFactor columns;
  // No product is near the limits of f32: they are computed as numbers, not as significands and exponents.
  bool moderate = false;

  void read(const float* left, const float* right, const TensorCoreProduct& p) {
    constexpr int kModerate = 100;
    rows = left;
    a.read(left, std::size_t{p.rows} * p.depth, p.sum.as_halves ? ScalarType::f16 : p.a);
    b.read(right, std::size_t{p.depth_of_b} * p.columns, p.sum.as_halves ? ScalarType::f16 : p.b);
    moderate = a.least > -kModerate / 2 && b.least > -kModerate / 2 && a.greatest < kModerate / 2 &&
               b.greatest < kModerate / 2;
  }
  void pack(const float* right, const TensorCoreProduct& p, unsigned column) {
    WG_ASSERT(p.depth_of_b <= ColumnsOfFactor::kMostDepth);
    for (unsigned k = 0; k < p.depth_of_b; ++k) {
      const std::size_t from = std::size_t{k} * p.columns + column, to = std::size_t{k} * kColumnsOfSum;
      avx2::store(avx2::loaded<avx2::Floats>(right + from), columns.numbers + to);
      avx2::store(avx2::loaded<avx2::Floats>(b.significands.data() + from), columns.significands + to);
      avx2::store(avx2::loaded<avx2::Ints>(b.exponents.data() + from), columns.exponents + to);
    }
  }
};

avx2::Floats power_of(avx2::Ints field) {
  return avx2::floats(avx2::greatest(field, avx2::Ints{}) << kFractionOfFloat);
}

// Sums of kRows rows of a with the eight columns. kPlain: neither sparse nor as halves, and moderate.
template <unsigned kRows, bool kPlain>
class SumsOfRows {
 public:
  SumsOfRows(const TensorCoreProduct& p, const FactorNumbers& n, unsigned row) : p_(p), n_(n) {
    for (unsigned r = 0; r < kRows; ++r) first_[r] = std::size_t{row + r} * p.depth;
  }

  // All products of the rows. `sums`: the numbers before and after.
  void add(avx2::Floats (&sums)[kRows]) const {
    avx2::Floats before[kRows];
    std::copy_n(sums, kRows, before);
    if (p_.sum.as_halves) std::fill_n(sums, kRows, avx2::Floats{});
    for (unsigned k = 0; k < p_.depth; k += p_.sum.terms) {
      add_once(sums, k, std::min(p_.sum.terms, p_.depth - k));
      if (p_.d != ScalarType::f16 || k + p_.sum.terms >= p_.depth) continue;
      for (avx2::Floats& sum : sums)
        sum = reinterpret_cast<avx2::Floats>(
            _mm256_cvtph_ps(_mm256_cvtps_ph(reinterpret_cast<__m256>(sum), _MM_FROUND_TO_NEAREST_INT)));
    }
    if (p_.sum.as_halves)
      for (unsigned r = 0; r < kRows; ++r) sums[r] += before[r];
  }

 private:
  // One sum a row: `count` products from the term `first` on.
  void add_once(avx2::Floats (&sums)[kRows], unsigned first, unsigned count) const {
    const int smallest = smallest_exponent(p_.d), fraction = static_cast<int>(p_.sum.fraction);
    SplitFloats c[kRows];
    avx2::Ints largest[kRows], sum[kRows];
    WG_UNROLL
    for (unsigned r = 0; r < kRows; ++r) {
      c[r] = split_floats(sums[r], smallest);
      largest[r] = c[r].exponent;
    }
    for (unsigned j = 0; j < count; ++j) {
      const std::size_t k = place_of(first + j);
      WG_UNROLL
      for (unsigned r = 0; r < kRows; ++r) largest[r] = avx2::greatest(largest[r], exponent(r, k));
    }
    // Field of the exponent of the power of two that aligns a product: 0 if nothing of it is left.
    avx2::Ints shift[kRows];
    avx2::Floats scale[kRows];
    avx2::Doubles low[kRows] = {}, high[kRows] = {};
    WG_UNROLL
    for (unsigned r = 0; r < kRows; ++r) {
      shift[r] = fraction + kBiasOfFloat - largest[r];
      scale[r] = power_of(avx2::least(shift[r], avx2::all(2 * kBiasOfFloat)));
      sum[r] = avx2::to_ints(c[r].significand * power_of(c[r].exponent + shift[r]));
    }
    for (unsigned j = 0; j < count; ++j) {
      const std::size_t k = place_of(first + j);
      WG_UNROLL
      for (unsigned r = 0; r < kRows; ++r) sum[r] += product(r, k, scale[r], shift[r]);
      if ((j + 1) % kTermsOfInteger != 0 && j + 1 != count) continue;
      WG_UNROLL
      for (unsigned r = 0; r < kRows; ++r) {
        low[r] += avx2::low_doubles(sum[r]);
        high[r] += avx2::high_doubles(sum[r]);
        sum[r] = avx2::Ints{};
      }
    }
    WG_UNROLL
    for (unsigned r = 0; r < kRows; ++r) {
      const auto places = reinterpret_cast<__m256i>(avx2::greatest(largest[r] - fraction, avx2::all(-1000)));
      low[r] *= double_power(_mm256_castsi256_si128(places));
      high[r] *= double_power(_mm256_extracti128_si256(places, 1));
      sums[r] = rounded_sums(low[r], high[r], p_.sum.result, p_.d == ScalarType::f16);
    }
  }

  // A product in units of the last place of the sum, the rest cut off.
  avx2::Ints product(unsigned r, std::size_t k, avx2::Floats scale, avx2::Ints shift) const {
    const std::size_t at = line(r, k);
    if (kPlain || n_.moderate) {
      const avx2::Floats a = avx2::Floats{} + n_.rows[first_[r] + k];
      return avx2::to_ints(a * avx2::loaded<avx2::Floats>(n_.columns.numbers + at) * scale);
    }
    const avx2::Floats a = avx2::Floats{} + n_.a.significands[first_[r] + k];
    return avx2::to_ints(a * avx2::loaded<avx2::Floats>(n_.columns.significands + at) *
                         power_of(exponent(r, k) + shift));
  }
  // Depth of the term: with `as_halves` the lower two bytes of all words come first.
  unsigned place_of(unsigned term) const {
    if (kPlain || !p_.sum.as_halves) return term;
    const unsigned in_half = term % p_.sum.terms;
    return in_half / 2 * 4 + term / p_.sum.terms * 2 + in_half % 2;
  }
  std::size_t line(unsigned r, std::size_t k) const {
    return (kPlain || !p_.chosen ? k : p_.chosen[first_[r] + k]) * kColumnsOfSum;
  }
  avx2::Ints exponent(unsigned r, std::size_t k) const {
    return avx2::loaded<avx2::Ints>(n_.columns.exponents + line(r, k)) + n_.a.exponents[first_[r] + k];
  }

  const TensorCoreProduct& p_;
  const FactorNumbers& n_;
  std::size_t first_[kRows];  // element of a
};

// Result if an infinity or a NaN takes part, or nothing.
bool special_sum(float* sum, const float* a, const float* b, const TensorCoreProduct& p, unsigned row,
                 unsigned column) {
  float total = std::isfinite(*sum) ? 0 : *sum;
  bool special = !std::isfinite(*sum);
  for (unsigned k = 0; k < p.depth; ++k) {
    const unsigned at = row * p.depth + k;
    const float x = a[at], y = b[std::size_t{p.chosen ? p.chosen[at] : k} * p.columns + column];
    if (std::isfinite(x) && std::isfinite(y)) continue;
    special = true;
    total += (std::isfinite(x) ? std::clamp(x * 0x1p126f, -1.0f, 1.0f) : x) *
             (std::isfinite(y) ? std::clamp(y * 0x1p126f, -1.0f, 1.0f) : y);
  }
  if (special) *sum = total;
  return special;
}

}  // namespace

TensorCoreSum tensor_core_sum(ScalarType factors, unsigned depth, unsigned capability, bool asynchronous) {
  const bool words = factors == ScalarType::tf32,
             bytes = !words && factors != ScalarType::f16 && factors != ScalarType::bf16;
  if (bytes && capability == 90 && !asynchronous) return {depth / 2, 25, 23, true};
  const unsigned halves = capability >= 90 ? 16 : capability >= 80 ? 8 : capability >= 75 ? 8 : 4;
  const unsigned terms = bytes ? 2 * halves : words ? halves / 2 : halves;
  const bool is_short = bytes && (asynchronous || capability == 89);
  const unsigned fraction = is_short ? 13 : capability >= 90 ? 25 : capability >= 75 ? 24 : 23;
  return {terms, fraction, is_short ? 13u : 23u};
}

namespace {

template <unsigned kRows, bool kPlain>
void add_columns(float* sums, const float* a, const float* b, const TensorCoreProduct& p, const FactorNumbers& n,
                 unsigned column) {
  WG_ASSERT(p.rows % kRows == 0);
  const bool factors_finite = n.a.finite && n.b.finite;
  for (unsigned i = 0; i < p.rows; i += kRows) {
    const auto at = [&](unsigned r) { return sums + std::size_t{i + r} * p.columns + column; };
    avx2::Floats after[kRows];
    for (unsigned r = 0; r < kRows; ++r) after[r] = avx2::loaded<avx2::Floats>(at(r));
    SumsOfRows<kRows, kPlain>(p, n, i).add(after);
    for (unsigned r = 0; r < kRows; ++r) {
      const avx2::Ints wild = (avx2::loaded<avx2::Ints>(at(r)) >> kFractionOfFloat & 255) == 255;
      if (factors_finite && avx2::signs(wild) == 0)
        avx2::store(after[r], at(r));
      else
        for (unsigned l = 0; l < kColumnsOfSum; ++l)
          if (!special_sum(at(r) + l, a, b, p, i + r, column + l)) at(r)[l] = after[r][l];
    }
  }
}

}  // namespace

void add_on_tensor_core(float* sums, const float* a, const float* b, const TensorCoreProduct& p) {
  WG_ASSERT(p.columns % kColumnsOfSum == 0);
  auto& n = per_thread<FactorNumbers>();
  n.read(a, b, p);
  const bool plain = n.moderate && !p.chosen && !p.sum.as_halves;
  for (unsigned j = 0; j < p.columns; j += kColumnsOfSum) {
    n.pack(b, p, j);
    if (plain)
      add_columns<4, true>(sums, a, b, p, n, j);
    else
      add_columns<1, false>(sums, a, b, p, n, j);
  }
}

}  // namespace warpgrind::jit
