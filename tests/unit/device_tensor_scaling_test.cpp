// Block-scaled products of tcgen05.mma against plain loops. The places of scale factors are those of CUTLASS's
// fragments (cute/atom/mma_traits_sm100_frag.hpp). All sums are exact. Not held against hardware.
#include <cmath>
#include <random>

#include "device_tensor_fixture.h"

namespace warpgrind::device {
namespace {

struct ScaledCase {
  const char* name;
  const char* form;          // of the instruction
  bool four_bits;            // e2m1 two in a byte, else e4m3
  unsigned m, n, k, blocks;  // blocks: scale factors per row
  unsigned scale_type;       // 1: UE8M0, 0: UE4M3
  unsigned a_id, b_id;
  bool pair, a_in_tensor;
  friend void PrintTo(const ScaledCase& c, std::ostream* out) { *out << c.name; }
};

double small_number(unsigned bits, unsigned exponent_bits, unsigned mantissa_bits, int bias) {
  const unsigned mantissa = bits & ((1u << mantissa_bits) - 1),
                 exponent = bits >> mantissa_bits & ((1u << exponent_bits) - 1);
  const double size = exponent == 0 ? std::ldexp(mantissa, 1 - bias - static_cast<int>(mantissa_bits))
                                    : std::ldexp(mantissa + (1u << mantissa_bits),
                                                 static_cast<int>(exponent) - bias - static_cast<int>(mantissa_bits));
  return bits >> (exponent_bits + mantissa_bits) & 1 ? -size : size;
}

class ScaledTensorProducts : public testing::TestWithParam<ScaledCase> {};

TEST_P(ScaledTensorProducts, AreThoseOfPlainLoops) {
  const ScaledCase c = GetParam();
  constexpr unsigned kScaleA = 300, kScaleB = 320, kLeft = 400;
  constexpr std::uint32_t kRight = 48 * 1024;
  std::mt19937 random(3);
  TensorRun run;
  const unsigned blocks = c.pair ? 2 : 1, rows = c.m / blocks, columns = c.n / blocks, length = c.k / c.blocks;
  const bool halves = c.pair && c.m == 128;  // the two halves of N lie in different lanes
  const auto layout = [&](std::uint32_t start, unsigned lines) {
    SharedMatrix m;
    m.start = start, m.size = 1, m.stride = 128, m.leading = lines * 16;
    return m;
  };
  const SharedMatrix left = layout(0, rows), right = layout(kRight, columns);
  const auto element = [&](double& value) {
    const unsigned bits = c.four_bits ? random() % 16 : (random() % 2 << 7 | (6 + random() % 3) << 3 | random() % 8);
    value = c.four_bits ? small_number(bits, 2, 1, 1) : small_number(bits, 4, 3, 7);
    return bits;
  };
  const auto factor = [&](double& value) {
    const unsigned bits = c.scale_type ? 126 + random() % 3 : (random() % 3 + 6) << 3 | random() % 8;
    value = c.scale_type ? std::ldexp(1, static_cast<int>(bits) - 127) : small_number(bits, 4, 3, 7);
    return bits;
  };
  const auto store = [&](std::vector<std::uint8_t>& bytes, const SharedMatrix& m, unsigned line, unsigned k,
                         unsigned bits) {
    std::uint8_t& byte = bytes[c.four_bits ? m.address(line, k / 2) : m.address(line, k)];
    byte = static_cast<std::uint8_t>(byte | (c.four_bits ? bits << 4 * (k % 2) : bits));
  };
  std::vector<double> a(c.m * c.k), b(c.n * c.k), scale_a(c.m * c.blocks), scale_b(c.n * c.blocks);
  for (unsigned i = 0; i < c.m; ++i) {
    for (unsigned k = 0; k < c.k; ++k) {
      const unsigned bits = element(a[i * c.k + k]), size = c.four_bits ? 4 : 8;
      if (c.a_in_tensor)
        run.before[0].at(i, kLeft + k * size / 32) |= bits << k * size % 32;
      else
        store(run.shared[i / rows], left, i % rows, k, bits);
    }
    for (unsigned s = 0; s < c.blocks; ++s) {
      const unsigned bits = factor(scale_a[i * c.blocks + s]), row = i % rows;
      for (unsigned quarter = 0; quarter < 4; ++quarter)
        run.before[i / rows].at(quarter * 32 + row % 32, kScaleA + row / 32) |= bits << 8 * (c.a_id + s);
    }
  }
  for (unsigned j = 0; j < c.n; ++j) {
    for (unsigned k = 0; k < c.k; ++k) store(run.shared[j / columns], right, j % columns, k, element(b[j * c.k + k]));
    for (unsigned s = 0; s < c.blocks; ++s) {
      const unsigned bits = factor(scale_b[j * c.blocks + s]);
      for (unsigned half = 0; half < blocks; ++half)
        for (unsigned quarter = 0; quarter < 4; ++quarter) {
          if (halves && quarter / 2 != j / (c.n / 2)) continue;
          const unsigned column = halves ? j % (c.n / 2) : j;
          run.before[half].at(quarter * 32 + column % 32, kScaleB + column / 32) |= bits << 8 * (c.b_id + s);
        }
    }
  }
  run.instructions = std::string("  tcgen05.mma.") + (c.pair ? "cta_group::2" : "cta_group::1") + "." + c.form +
                     " [%y], " + (c.a_in_tensor ? "[400]" : "%a") + ", %b, %i, [300], [320], %p;";
  run.a = left.bits(), run.b = right.bits();
  const unsigned code = c.four_bits ? 1 : 0;
  run.i = InstructionBits{.a = code, .b = code, .m = c.m, .n = c.n}.scaled_bits(c.a_id, c.b_id, c.scale_type);
  run.p = false;
  run.pair = c.pair;
  const LaunchResult result = run.run();
  ASSERT_FALSE(result.fault) << result.fault->message;
  for (const Fault& w : result.warnings) ADD_FAILURE() << w.message;
  unsigned wrong = 0;
  for (unsigned i = 0; i < c.m; ++i)
    for (unsigned j = 0; j < c.n; ++j) {
      double sum = 0;
      for (unsigned k = 0; k < c.k; ++k)
        sum +=
            a[i * c.k + k] * scale_a[i * c.blocks + k / length] * b[j * c.k + k] * scale_b[j * c.blocks + k / length];
      const unsigned row = i % rows, lane = halves ? row + j / (c.n / 2) * 64 : row,
                     column = halves ? j % (c.n / 2) : j;
      const std::uint32_t word = run.after[i / rows].at(lane, column);
      float got;
      std::memcpy(&got, &word, 4);
      if (got != static_cast<float>(sum) && ++wrong < 4)
        ADD_FAILURE() << "row " << i << " column " << j << ": " << got << ", not " << sum;
    }
  EXPECT_EQ(wrong, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Forms, ScaledTensorProducts,
    testing::Values(
        ScaledCase{"mxf8", "kind::mxf8f6f4.block_scale", false, 128, 64, 32, 1, 1, 0, 0, false, false},
        ScaledCase{"mxf8_ids", "kind::mxf8f6f4.block_scale.scale_vec::1X", false, 128, 40, 32, 1, 1, 3, 1, false,
                   false},
        ScaledCase{"mxf8_a_in_tensor", "kind::mxf8f6f4.block_scale.block32", false, 128, 64, 32, 1, 1, 0, 0, false,
                   true},
        ScaledCase{"mxf8_pair", "kind::mxf8f6f4.block_scale", false, 256, 96, 32, 1, 1, 0, 2, true, false},
        ScaledCase{"mxf8_pair_m128", "kind::mxf8f6f4.block_scale", false, 128, 128, 32, 1, 1, 1, 0, true, false},
        ScaledCase{"mxf4", "kind::mxf4.block_scale", true, 128, 256, 64, 2, 1, 0, 0, false, false},
        ScaledCase{"mxf4_ids", "kind::mxf4.block_scale.scale_vec::2X", true, 128, 64, 64, 2, 1, 2, 0, false, false},
        ScaledCase{"mxf4_a_in_tensor", "kind::mxf4.block_scale.block32", true, 128, 64, 64, 2, 1, 0, 2, false, true},
        ScaledCase{"nvf4", "kind::mxf4nvf4.block_scale.scale_vec::4X", true, 128, 64, 64, 4, 0, 0, 0, false, false},
        ScaledCase{"nvf4_pair", "kind::mxf4nvf4.block_scale.block16", true, 256, 64, 64, 4, 0, 0, 0, true, false},
        ScaledCase{"nvf4_by_exponents", "kind::mxf4nvf4.block_scale.scale_vec::2X", true, 128, 64, 64, 2, 1, 0, 2,
                   false, false}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(ScaledTensorProducts, RefusesWrongScaleFactors) {
  const auto message = [](const char* form, std::uint32_t bits) {
    TensorRun run;
    SharedMatrix m;
    run.a = run.b = m.bits();
    run.i = bits;
    run.instructions = std::string("tcgen05.mma.cta_group::1.") + form + " [%y], %a, %b, %i, [300], [320], %p;";
    const LaunchResult r = run.run();
    return r.fault ? r.fault->message : std::string("no fault");
  };
  const auto has = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(message("kind::mxf8f6f4.block_scale", InstructionBits{}.scaled_bits(0, 0, 0)), "UE8M0 only");
  has(message("kind::mxf4nvf4.block_scale.scale_vec::4X", InstructionBits{.a = 1, .b = 1}.scaled_bits(2, 0, 0)),
      "must be 0");
  has(message("kind::mxf4.block_scale", InstructionBits{.a = 1, .b = 1}.scaled_bits(0, 1, 1)), "must be 0 or 2");
  has(message("kind::mxf4nvf4.block_scale.scale_vec::2X", InstructionBits{.a = 1, .b = 1}.scaled_bits(0, 0, 0)),
      "UE4M3 need .scale_vec::4X");
}

}  // namespace
}  // namespace warpgrind::device
