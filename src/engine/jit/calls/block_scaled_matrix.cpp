// Function wg_mma_block_scaled, which machine code calls for mma and mma.sp with block scaling.
#include "jit/calls/block_scaled_matrix.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "base/per_thread.h"
#include "gpu/types.h"
#include "jit/calls/matrix_factors.h"
#include "jit/calls/sparse_matrix.h"
#include "jit/calls/symbols.h"

namespace warpgrind::jit {

namespace {

using ptx::ScalarType;

// A number as a significand and the exponent by which a tensor core aligns it.
struct AlignedNumber {
  double significand = 0;
  int exponent = 0;
};

constexpr int kExponentOfNothing = -4096;  // of a zero, which aligns nothing

AlignedNumber aligned(double x, int smallest_exponent) {
  if (x == 0) return {0, kExponentOfNothing};
  const int exponent = std::max(std::ilogb(x), smallest_exponent);
  return {std::ldexp(x, -exponent), exponent};
}

int smallest_exponent_of(ScalarType type) {
  switch (type) {
    case ScalarType::e5m2:
      return -14;
    case ScalarType::e4m3:
      return -6;
    case ScalarType::e3m2:
      return -2;
    default:
      return 0;  // e2m3, e2m1
  }
}

AlignedNumber scale_of(std::uint8_t bits, bool has_mantissa) {
  constexpr unsigned kNanOfMantissa = 0x7f, kNanOfExponent = 0xff;
  constexpr int kBiasOfExponent = 127, kBiasOfMantissa = 7;
  if (!has_mantissa) {
    if (bits == kNanOfExponent) return {std::nan(""), 0};
    return {1, bits - kBiasOfExponent};
  }
  const unsigned magnitude = bits & 0x7fu;  // there is no sign
  if (magnitude == kNanOfMantissa) return {std::nan(""), 0};
  const int field = static_cast<int>(magnitude >> 3);
  const double significand = (field == 0 ? 0 : 8) + static_cast<int>(magnitude & 7u);
  return aligned(std::ldexp(significand, std::max(field, 1) - kBiasOfMantissa - 3), 1 - kBiasOfMantissa);
}

// One sum: each term is cut off `fraction` bits below the largest exponent, and the result after 23 bits.
float fused_sum(const std::vector<AlignedNumber>& terms, int fraction) {
  int largest = kExponentOfNothing;
  double all = 0;
  for (const AlignedNumber& t : terms) {
    largest = std::max(largest, t.exponent);
    all += t.significand;
  }
  if (!std::isfinite(all)) return static_cast<float>(all);
  double sum = 0;  // exact: fewer than 2^10 terms below 2^42
  for (const AlignedNumber& t : terms) sum += std::trunc(std::ldexp(t.significand, t.exponent - largest + fraction));
  const double value = std::ldexp(sum, largest - fraction);
  const auto nearest = static_cast<float>(value);
  return std::fabs(static_cast<double>(nearest)) > std::fabs(value) && std::isfinite(nearest)
             ? std::nextafter(nearest, 0.0f)
             : nearest;
}

struct Scales {
  const std::uint32_t* words;  // of each lane
  unsigned first_byte, thread;
  bool has_mantissa;

  // PTX ISA, "Block scaling for mma.sync": a lane of each four holds the scales of one row or column, in neighbouring
  // bytes from first_byte on. Of A two lanes, of rows `group` and `group + 8`.
  AlignedNumber of_row(unsigned row, unsigned block) const {
    return of_lane(row % 8 * 4 + thread % 2 * 2 + row / 8, block);
  }
  AlignedNumber of_column(unsigned column, unsigned block) const { return of_lane(column * 4 + thread % 4, block); }

 private:
  AlignedNumber of_lane(unsigned lane, unsigned block) const {
    return scale_of(static_cast<std::uint8_t>(words[lane] >> ((first_byte + block) % 4 * 8)), has_mantissa);
  }
};

// Element `at` of A's rows or of B's columns, and its scale.
struct Factor {
  float number;
  ScalarType type;
  AlignedNumber scale;
};

// 8-bit types: each product is a term, whose exponent has those of both scales.
AlignedNumber product_of(const Factor& a, const Factor& b) {
  if (!std::isfinite(a.number) || !std::isfinite(b.number)) {
    return {double{a.number} * double{b.number} * a.scale.significand * b.scale.significand, 0};
  }
  const AlignedNumber x = aligned(a.number, smallest_exponent_of(a.type)),
                      y = aligned(b.number, smallest_exponent_of(b.type));
  return {x.significand * y.significand * a.scale.significand * b.scale.significand,
          x.exponent + y.exponent + a.scale.exponent + b.scale.exponent};
}

void mma_block_scaled(std::uint32_t shape_code, std::uint32_t types, std::uint32_t flags, void* d, const void* a,
                      const void* b, const void* c, const std::uint32_t* scales_of_a, const std::uint32_t* scales_of_b,
                      const std::uint32_t* ids, const std::uint32_t* metadata) {
  constexpr int kFractionOfBytes = 25, kFractionOfFours = 35;
  constexpr unsigned kExactProducts = 16;  // of 4-bit numbers: their sum is one term
  const MatrixShape shape = MatrixShape::from_code(shape_code);
  const auto type_of_a = static_cast<ScalarType>(types & 255), type_of_b = static_cast<ScalarType>(types >> 8 & 255);
  const auto [m, n, k] = shape;
  const unsigned stored = metadata ? k / 2u : k, blocks = flags & kScalesOfRow;
  const bool fours = type_of_a == ScalarType::e2m1x2, has_mantissa = (flags & kScalesHaveMantissa) != 0;
  auto& work = per_thread<FactorWork<float>>();
  read_sums(work.sums, c, m, n, ScalarType::f32);
  unpack_factors(work, shape, type_of_a, type_of_b, stored, a, b);
  SparseDepths sparse;
  if (metadata) read_metadata(sparse, metadata, stored, type_of_a, 0);
  const Scales rows{scales_of_a, ids[0] & 255, ids[0] >> 8 & 255, has_mantissa};
  const Scales columns{scales_of_b, ids[0] >> 16 & 255, ids[0] >> 24, has_mantissa};
  std::vector<AlignedNumber> terms;
  for (unsigned i = 0; i < m; ++i)
    for (unsigned j = 0; j < n; ++j) {
      float& sum = work.sums[i * n + j];
      terms.clear();
      terms.push_back(std::isfinite(sum) ? aligned(double{sum}, -126) : AlignedNumber{double{sum}, 0});
      double exact = 0;
      for (unsigned s = 0; s < stored; ++s) {
        const unsigned block = s * blocks / stored, depth = metadata ? sparse.depths[i * stored + s] : s;
        const float x = work.a[i * stored + s], y = work.b[depth * n + j];
        const AlignedNumber u = rows.of_row(i, block), v = columns.of_column(j, block);
        if (!fours) {
          terms.push_back(product_of({x, type_of_a, u}, {y, type_of_b, v}));
          continue;
        }
        exact += double{x} * double{y};
        if ((s + 1) % kExactProducts != 0) continue;
        terms.push_back({exact * u.significand * v.significand, u.exponent + v.exponent});
        exact = 0;
      }
      sum = fused_sum(terms, fours ? kFractionOfFours : kFractionOfBytes);
    }
  write_sums(d, work.sums, m, n, ScalarType::f32);
}

}  // namespace

void register_block_scaled_symbols() {
  static const CallSymbol symbols[] = {{"wg_mma_block_scaled", reinterpret_cast<void*>(&mma_block_scaled)}};
  register_call_symbols(symbols);
}

}  // namespace warpgrind::jit
