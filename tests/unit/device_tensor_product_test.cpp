// Products of tcgen05.mma against plain loops over the PTX manual's layouts. All sums are exact, so that their order
// does not matter. Not held against hardware.
#include <cmath>
#include <random>

#include "device_tensor_fixture.h"
#include "gpu/half.h"

namespace warpgrind::device {
namespace {

enum class ElementType { f16, bf16, tf32, e4m3, e5m2, e2m3, e3m2, e2m1, u8, s8 };

// A random number of few bits of the type.
std::uint32_t random_element(ElementType type, std::mt19937& random) {
  const auto below = [&](unsigned n) { return static_cast<std::uint32_t>(random() % n); };
  const auto whole = [&] { return static_cast<float>(static_cast<int>(below(9)) - 4); };
  float f = whole();
  std::uint32_t w;
  std::memcpy(&w, &f, 4);
  switch (type) {
    case ElementType::f16:
      return float_to_half(f);
    case ElementType::bf16:
      return w >> 16;
    case ElementType::tf32:
      return w;
    case ElementType::e4m3:
      return below(2) << 7 | (5 + below(5)) << 3 | below(8);
    case ElementType::e5m2:
      return below(2) << 7 | (13 + below(5)) << 2 | below(4);
    case ElementType::e2m3:
    case ElementType::e3m2:
      return below(64);
    case ElementType::e2m1:
      return below(16);
    case ElementType::u8:
    case ElementType::s8:
      return below(256);
  }
  return 0;
}

double element_value(ElementType type, std::uint32_t bits) {
  const auto small = [&](int exponent_bits, int mantissa_bits, int bias) {
    const int mantissa = static_cast<int>(bits) & ((1 << mantissa_bits) - 1);
    const int exponent = static_cast<int>(bits) >> mantissa_bits & ((1 << exponent_bits) - 1);
    const double size = exponent == 0 ? std::ldexp(mantissa, 1 - bias - mantissa_bits)
                                      : std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
    return bits >> (exponent_bits + mantissa_bits) & 1 ? -size : size;
  };
  float f;
  switch (type) {
    case ElementType::f16:
      return small(5, 10, 15);
    case ElementType::bf16:
      return small(8, 7, 127);
    case ElementType::tf32:
      std::memcpy(&f, &bits, 4);
      return f;
    case ElementType::e4m3:
      return small(4, 3, 7);
    case ElementType::e5m2:
      return small(5, 2, 15);
    case ElementType::e2m3:
      return small(2, 3, 1);
    case ElementType::e3m2:
      return small(3, 2, 3);
    case ElementType::e2m1:
      return small(2, 1, 1);
    case ElementType::u8:
      return bits;
    case ElementType::s8:
      return static_cast<std::int8_t>(bits);
  }
  return 0;
}

unsigned element_bits(ElementType t) {
  return t == ElementType::f16 || t == ElementType::bf16    ? 16
         : t == ElementType::tf32                           ? 32
         : t == ElementType::e2m1                           ? 4
         : t == ElementType::e2m3 || t == ElementType::e3m2 ? 6
                                                            : 8;
}

struct ProductCase {
  const char* name;
  const char* kind;
  ElementType a, b;
  unsigned a_code, b_code, d_code;  // d: 0 f16, 1 f32, 2 s32
  unsigned m, n, k;
  unsigned a_mode = 0, b_mode = 0;
  bool transpose_a = false, transpose_b = false, negate_a = false, negate_b = false;
  bool pair = false, stationary = false, a_in_tensor = false, add = true;
  unsigned scale_d = 0, lane = 0;
  friend void PrintTo(const ProductCase& c, std::ostream* out) { *out << c.name; }
};

class TensorProducts : public testing::TestWithParam<ProductCase> {
 protected:
  // Bytes of an element as it lies in memory; 4-bit and 6-bit ones lie in 16 bytes with 16 elements.
  static unsigned size(ElementType t) { return element_bits(t) / 8 ? element_bits(t) / 8 : 1; }

  static void put(std::vector<std::uint8_t>& bytes, const SharedMatrix& at, ElementType t, unsigned line, unsigned k,
                  std::uint32_t bits) {
    if (element_bits(t) >= 8) {
      std::memcpy(bytes.data() + at.address(line, k), &bits, element_bits(t) / 8);
      return;
    }
    const std::uint32_t piece = at.address(line, k / 16 * 16);
    for (unsigned b = 0; b < element_bits(t); ++b) {
      const unsigned bit = k % 16 * element_bits(t) + b;
      bytes[piece + bit / 8] = static_cast<std::uint8_t>(bytes[piece + bit / 8] | (bits >> b & 1) << bit % 8);
    }
  }

  // Lane and column of an element of D in its block (PTX ISA, "Data Path Layout Organization").
  static std::pair<unsigned, unsigned> place(const ProductCase& c, unsigned row, unsigned column) {
    const unsigned rows = c.pair ? c.m / 2 : c.m;
    if (rows == 128) return {row, column};                                                                   // A, D
    if (c.pair || (c.stationary && rows == 64)) return {row + column / (c.n / 2) * 64, column % (c.n / 2)};  // B, E
    if (c.stationary) return {row + column / (c.n / 4) * 32, column % (c.n / 4)};                            // G
    return {c.lane + row / 16 * 32 + row % 16, column};                                                      // F
  }
};

SharedMatrix matrix_at(std::uint32_t start, ElementType t, unsigned mode, bool by_depth, unsigned lines, unsigned k) {
  SharedMatrix s;
  s.start = start;
  s.mode = mode;
  s.size = element_bits(t) < 8 ? 1 : element_bits(t) / 8;
  s.by_depth = by_depth;
  const std::uint32_t width = s.width();
  if (!by_depth) {
    s.stride = 8 * width;                     // eight rows side by side
    s.leading = mode == 0 ? lines * 16 : 16;  // pieces of all rows before the next pieces
  } else if (mode == 0) {
    s.stride = 128, s.leading = lines * s.size * 8;
  } else {
    const unsigned rows = mode == 1 ? 4 : 8;
    s.stride = rows * width;
    s.leading = k / rows * s.stride;
  }
  return s;
}

TEST_P(TensorProducts, AreThoseOfPlainLoops) {
  const ProductCase c = GetParam();
  std::mt19937 random(7);
  constexpr std::uint32_t kRight = 48 * 1024;
  const unsigned blocks = c.pair ? 2 : 1, rows = c.m / blocks, columns = c.n / blocks;
  TensorRun run;
  const SharedMatrix left = matrix_at(0, c.a, c.a_mode, c.transpose_a, rows, c.k),
                     right = matrix_at(kRight, c.b, c.b_mode, c.transpose_b, columns, c.k);
  std::vector<double> a(c.m * c.k), b(c.n * c.k), d(c.m * c.n);
  for (unsigned i = 0; i < c.m; ++i)
    for (unsigned k = 0; k < c.k; ++k) {
      const std::uint32_t bits = random_element(c.a, random);
      a[i * c.k + k] = element_value(c.a, bits) * (c.negate_a ? -1 : 1);
      if (!c.a_in_tensor) {
        put(run.shared[i / rows], left, c.a, i % rows, k, bits);
        continue;
      }
      // Columns from 256 on, packed in words; 4-bit and 6-bit elements lie in the middle of a byte.
      const unsigned size = element_bits(c.a) < 8 ? 8 : element_bits(c.a), bit = k * size;
      const unsigned copies = c.stationary || c.pair ? 128 / rows : 1;
      for (unsigned group = 0; group < c.n; group += c.n / copies) {
        const unsigned lane = place(c, i % rows, group).first;
        run.before[i / rows].at(lane, 256 + bit / 32) |=
            bits << ((element_bits(c.a) < 8 ? (8 - element_bits(c.a)) / 2 : 0) + bit % 32);
      }
    }
  for (unsigned j = 0; j < c.n; ++j)
    for (unsigned k = 0; k < c.k; ++k) {
      const std::uint32_t bits = random_element(c.b, random);
      b[j * c.k + k] = element_value(c.b, bits) * (c.negate_b ? -1 : 1);
      put(run.shared[j / columns], right, c.b, j % columns, k, bits);
    }
  for (unsigned i = 0; i < c.m; ++i)
    for (unsigned j = 0; j < c.n; ++j) {
      const int old = static_cast<int>(random() % 64) - 32;
      const auto [lane, column] = place(c, i % rows, j);
      std::uint32_t& cell = run.before[i / rows].at(lane, column);
      const auto f = static_cast<float>(old);
      if (c.d_code == 2)
        cell = static_cast<std::uint32_t>(old);
      else if (c.d_code == 1)
        std::memcpy(&cell, &f, 4);
      else
        cell = float_to_half(f);
      double sum = c.add ? std::ldexp(old, -static_cast<int>(c.scale_d)) : 0;
      for (unsigned k = 0; k < c.k; ++k) sum += a[i * c.k + k] * b[j * c.k + k];
      d[i * c.n + j] = sum;
    }
  const std::string group = c.pair ? "cta_group::2" : "cta_group::1";
  run.instructions = std::string("  ") + (c.stationary ? "tcgen05.mma.ws." : "tcgen05.mma.") + group + "." + c.kind +
                     " [%y], " + (c.a_in_tensor ? "[%x]" : "%a") + ", %b, %i, %p" +
                     (c.scale_d ? ", " + std::to_string(c.scale_d) : "") + ";";
  run.a = left.bits(), run.b = right.bits();
  run.x = c.lane << 16 | 256, run.y = c.lane << 16;
  InstructionBits bits{c.d_code, c.a_code, c.b_code, c.m, c.n, c.negate_a, c.negate_b, c.transpose_a, c.transpose_b};
  run.i = bits.bits();
  run.p = c.add;
  run.pair = c.pair;
  const LaunchResult result = run.run();
  ASSERT_FALSE(result.fault) << result.fault->message;
  for (const Fault& w : result.warnings) ADD_FAILURE() << w.message;
  unsigned wrong = 0;
  for (unsigned i = 0; i < c.m; ++i)
    for (unsigned j = 0; j < c.n; ++j) {
      const auto [lane, column] = place(c, i % rows, j);
      const std::uint32_t word = run.after[i / rows].at(lane, column);
      float f;
      std::memcpy(&f, &word, 4);
      const double got = c.d_code == 2   ? static_cast<std::int32_t>(word)
                         : c.d_code == 1 ? f
                                         : half_to_float(static_cast<std::uint16_t>(word));
      if (got == d[i * c.n + j]) continue;
      if (++wrong < 4) ADD_FAILURE() << "row " << i << " column " << j << ": " << got << ", not " << d[i * c.n + j];
    }
  EXPECT_EQ(wrong, 0u);
}

ProductCase changed(ProductCase c, void (*change)(ProductCase&)) {
  change(c);
  return c;
}

const ProductCase kHalfProduct{"f16", "kind::f16", ElementType::f16, ElementType::f16, 0, 0, 1, 128, 64, 16};
const ProductCase kTf32Product{"tf32", "kind::tf32", ElementType::tf32, ElementType::tf32, 2, 2, 1, 128, 64, 8};
const ProductCase kByteProduct{"e4m3", "kind::f8f6f4", ElementType::e4m3, ElementType::e5m2, 0, 1, 1, 128, 64, 32};
const ProductCase kIntegerProduct{"s8", "kind::i8", ElementType::s8, ElementType::u8, 1, 0, 2, 128, 64, 32};

INSTANTIATE_TEST_SUITE_P(
    Forms, TensorProducts,
    testing::Values(
        kHalfProduct, changed(kHalfProduct, [](ProductCase& c) { c.name = "f16_m64", c.m = 64; }),
        changed(kHalfProduct, [](ProductCase& c) { c.name = "f16_m64_upper_lanes", c.m = 64, c.lane = 16; }),
        changed(kHalfProduct, [](ProductCase& c) { c.name = "f16_n256", c.n = 256, c.a_mode = 2, c.b_mode = 2; }),
        changed(kHalfProduct, [](ProductCase& c) { c.name = "f16_n8", c.n = 8; }),
        changed(kHalfProduct, [](ProductCase& c) { c.name = "f16_swizzle_32", c.a_mode = 6, c.b_mode = 6; }),
        changed(kHalfProduct, [](ProductCase& c) { c.name = "f16_swizzle_64", c.a_mode = 4, c.b_mode = 4; }),
        changed(kHalfProduct, [](ProductCase& c) { c.name = "f16_transposed", c.transpose_a = c.transpose_b = true; }),
        changed(kHalfProduct, [](ProductCase& c) { c.name = "f16_transposed_32", c.transpose_a = true, c.a_mode = 6; }),
        changed(kHalfProduct, [](ProductCase& c) { c.name = "f16_transposed_64", c.transpose_b = true, c.b_mode = 4; }),
        changed(kHalfProduct,
                [](ProductCase& c) { c.name = "f16_transposed_128", c.transpose_a = true, c.a_mode = 2; }),
        changed(kHalfProduct, [](ProductCase& c) { c.name = "f16_sums_of_f16", c.d_code = 0; }),
        changed(kHalfProduct, [](ProductCase& c) { c.name = "f16_negated", c.negate_a = true; }),
        changed(kHalfProduct, [](ProductCase& c) { c.name = "f16_overwritten", c.add = false; }),
        changed(kHalfProduct, [](ProductCase& c) { c.name = "f16_scaled_d", c.scale_d = 3; }),
        changed(kHalfProduct, [](ProductCase& c) { c.name = "f16_a_in_tensor", c.a_in_tensor = true; }),
        changed(kHalfProduct, [](ProductCase& c) { c.name = "f16_a_in_tensor_m64", c.a_in_tensor = true, c.m = 64; }),
        changed(kHalfProduct, [](ProductCase& c) { c.name = "f16_pair", c.pair = true, c.m = 256; }),
        changed(kHalfProduct, [](ProductCase& c) { c.name = "f16_pair_m128", c.pair = true; }),
        changed(kHalfProduct, [](ProductCase& c) { c.name = "f16_pair_a_in_tensor", c.pair = c.a_in_tensor = true; }),
        changed(kHalfProduct, [](ProductCase& c) { c.name = "f16_stationary", c.stationary = true; }),
        changed(kHalfProduct, [](ProductCase& c) { c.name = "f16_stationary_m64", c.stationary = true, c.m = 64; }),
        changed(kHalfProduct,
                [](ProductCase& c) { c.name = "f16_stationary_m32", c.stationary = true, c.m = 32, c.n = 128; }),
        changed(kHalfProduct,
                [](ProductCase& c) { c.name = "f16_stationary_a_in_tensor", c.stationary = c.a_in_tensor = true; }),
        changed(kHalfProduct,
                [](ProductCase& c) {
                  c.name = "f16_stationary_a_in_tensor_m64", c.stationary = c.a_in_tensor = true, c.m = 64;
                }),
        changed(kByteProduct,
                [](ProductCase& c) {
                  c.name = "e4m3_stationary_a_in_tensor_m32", c.stationary = c.a_in_tensor = true;
                  c.m = 32, c.n = 128;
                }),
        changed(kHalfProduct,
                [](ProductCase& c) { c.name = "bf16", c.a = c.b = ElementType::bf16, c.a_code = c.b_code = 1; }),
        kTf32Product,
        changed(kTf32Product, [](ProductCase& c) { c.name = "tf32_transposed", c.transpose_a = true, c.a_mode = 1; }),
        changed(kTf32Product, [](ProductCase& c) { c.name = "tf32_a_in_tensor", c.a_in_tensor = true; }), kByteProduct,
        changed(kByteProduct,
                [](ProductCase& c) { c.name = "e4m3_transposed", c.transpose_a = c.transpose_b = true, c.a_mode = 2; }),
        changed(kByteProduct,
                [](ProductCase& c) { c.name = "e4m3_pair", c.pair = true, c.m = 256, c.a_mode = c.b_mode = 2; }),
        changed(kByteProduct, [](ProductCase& c) { c.name = "e2m3", c.a = ElementType::e2m3, c.a_code = 3; }),
        changed(kByteProduct, [](ProductCase& c) { c.name = "e3m2", c.b = ElementType::e3m2, c.b_code = 4; }),
        changed(kByteProduct,
                [](ProductCase& c) { c.name = "e2m1", c.a = c.b = ElementType::e2m1, c.a_code = c.b_code = 5; }),
        changed(kByteProduct,
                [](ProductCase& c) {
                  c.name = "e2m1_a_in_tensor", c.a = ElementType::e2m1, c.a_code = 5, c.a_in_tensor = true;
                }),
        changed(kByteProduct,
                [](ProductCase& c) {
                  c.name = "e3m2_a_in_tensor", c.a = ElementType::e3m2, c.a_code = 4, c.a_in_tensor = true;
                }),
        kIntegerProduct,
        changed(kIntegerProduct, [](ProductCase& c) { c.name = "s8_n24", c.n = 24, c.a_mode = 4, c.b_mode = 2; })),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace warpgrind::device
