// Products of tcgen05.mma with a K of 96 against plain loops. Matrices and scale factors lie as in CUTLASS's collective
// (sm103_blockscaled_mma_warpspecialized.hpp): rows of 48 bytes side by side in swizzled lines of 128 bytes, so that
// every third product goes on in the next buffer. All sums are exact. Not held against hardware.
#include <cmath>
#include <random>

#include "device_tensor_fixture.h"

namespace warpgrind::device {
namespace {

struct LongCase {
  const char* name;
  const char* form;
  unsigned m, n, products;
  unsigned block;       // elements per scale factor
  unsigned scale_type;  // 1: UE8M0, 0: UE4M3
  bool pair;
  friend void PrintTo(const LongCase& c, std::ostream* out) { *out << c.name; }
};

constexpr unsigned kLongDepth = 96, kLongLineBytes = 128;

double small_e2m1(unsigned bits) {
  static constexpr double kSizes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  return bits & 8 ? -kSizes[bits & 7] : kSizes[bits & 7];
}

// A matrix in buffers of `lines` lines of 128 bytes with 128-byte swizzling.
struct LongMatrix {
  std::uint32_t start;
  unsigned lines;
  std::uint32_t buffer_bytes() const { return lines * kLongLineBytes; }
  std::uint32_t address(unsigned line, unsigned byte) const {
    const std::uint32_t at =
        start + byte / kLongLineBytes * buffer_bytes() + line * kLongLineBytes + byte % kLongLineBytes;
    return at ^ (at >> 7 & 7) << 4;
  }
  // Of product `p`, relative to the address of shared memory.
  std::uint64_t bits(unsigned p) const {
    const unsigned first = p * kLongDepth / 2, last = first + kLongDepth / 2 - 1;
    const std::uint64_t from = start + first / kLongLineBytes * buffer_bytes() + first % kLongLineBytes,
                        next = start + last / kLongLineBytes * buffer_bytes();
    constexpr std::uint64_t kEightLines = 8 * kLongLineBytes;
    return from >> 4 | next >> 4 << 16 | kEightLines >> 4 << 32 | std::uint64_t{1} << 46 | std::uint64_t{1} << 52 |
           std::uint64_t{2} << 61;
  }
};

class LongTensorProducts : public testing::TestWithParam<LongCase> {};

TEST_P(LongTensorProducts, AreThoseOfPlainLoops) {
  const LongCase c = GetParam();
  constexpr unsigned kScaleA = 260, kScaleB = 320, kQuarter = 32;
  std::mt19937 random(5);
  TensorRun run;
  run.gpu = "b300", run.target = "sm_103a";
  const unsigned blocks = c.pair ? 2 : 1, rows = c.m / blocks, columns = c.n / blocks, depth = c.products * kLongDepth,
                 factors = depth / c.block, buffers = (depth / 2 + kLongLineBytes - 1) / kLongLineBytes;
  const LongMatrix left{0, rows}, right{buffers * left.buffer_bytes(), columns};
  const auto factor = [&](double& value) {
    if (c.scale_type == 1) {
      const unsigned bits = 126 + random() % 3;
      value = std::ldexp(1, static_cast<int>(bits) - 127);
      return bits;
    }
    const unsigned exponent = 6 + random() % 3, half = random() % 2;  // 1 or 1.5 times a power of two
    value = std::ldexp(half ? 1.5 : 1, static_cast<int>(exponent) - 7);
    return exponent << 3 | half << 2;
  };
  std::vector<double> a(c.m * depth), b(c.n * depth);
  for (const bool is_left : {true, false}) {
    const LongMatrix& matrix = is_left ? left : right;
    const unsigned lines = is_left ? c.m : c.n, apart = is_left ? 4 : (c.n + 127) / 128 * 4;
    std::vector<double>& values = is_left ? a : b;
    for (unsigned i = 0; i < lines; ++i) {
      const unsigned block = i / matrix.lines, line = i % matrix.lines;
      for (unsigned k = 0; k < depth; ++k) {
        const unsigned bits = random() % 16;
        values[i * depth + k] = small_e2m1(bits);
        std::uint8_t& byte = run.shared[block][matrix.address(line, k / 2)];
        byte = static_cast<std::uint8_t>(byte | bits << 4 * (k % 2));
      }
      for (unsigned s = 0; s < factors; ++s) {
        double value = 0;
        const unsigned bits = factor(value);
        for (unsigned k = 0; k < c.block; ++k) values[i * depth + s * c.block + k] *= value;
        // Factors of A lie in the block that computes its rows, those of B in both.
        for (unsigned half = is_left ? block : 0; half < (is_left ? block + 1 : blocks); ++half) {
          const unsigned of = is_left ? line : i,
                         column = (is_left ? kScaleA : kScaleB) + of / kQuarter + s / 4 * apart;
          for (unsigned quarter = 0; quarter < 4; ++quarter)
            run.before[half].at(quarter * kQuarter + of % kQuarter, column) |= bits << 8 * (s % 4);
        }
      }
    }
  }
  const auto constant = [](const char* name, std::uint64_t value) {
    return std::string("mov.b64 ") + name + ", " + std::to_string(value) + "; ";
  };
  const InstructionBits type{.a = 1, .b = 1, .m = c.m, .n = c.n};
  // %l is the address of shared memory / 16, for the start and for the address of the next buffer.
  run.instructions = "shl.b64 %h, %l, 16; add.u64 %l, %l, %h; mov.b32 %e, 0; setp.ne.u32 %q, %e, 0;\n";
  for (unsigned p = 0; p < c.products; ++p) {
    const unsigned first = p * kLongDepth / c.block, of_b = first / 4 * ((c.n + 127) / 128 * 4);
    const std::uint32_t bits = type.scaled_bits(first % 4, first % 4, c.scale_type) | 1u << 31;
    run.instructions += constant("%a", left.bits(p)) + constant("%b", right.bits(p)) +
                        "add.u64 %a, %a, %l; add.u64 %b, %b, %l; mov.b32 %i, " + std::to_string(bits) +
                        "; tcgen05.mma.cta_group::" + (c.pair ? "2." : "1.") + c.form + " [%y], %a, %b, %i, [" +
                        std::to_string(kScaleA + first / 4 * 4) + "], [" + std::to_string(kScaleB + of_b) +
                        "], %q; setp.eq.u32 %q, %e, 0;\n";
  }
  run.pair = c.pair;
  expect_no_warnings(run.run());
  unsigned wrong = 0;
  for (unsigned i = 0; i < c.m; ++i)
    for (unsigned j = 0; j < c.n; ++j) {
      double sum = 0;
      for (unsigned k = 0; k < depth; ++k) sum += a[i * depth + k] * b[j * depth + k];
      const std::uint32_t word = run.after[i / rows].at(i % rows, j);
      float got;
      std::memcpy(&got, &word, 4);
      if (got != static_cast<float>(sum) && ++wrong < 4)
        ADD_FAILURE() << "row " << i << " column " << j << ": " << got << ", not " << sum;
    }
  EXPECT_EQ(wrong, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Forms, LongTensorProducts,
    testing::Values(LongCase{"nvf4_eight", "kind::mxf4nvf4.block_scale.scale_vec::4X", 128, 128, 8, 16, 0, false},
                    LongCase{"nvf4_wide", "kind::mxf4nvf4.block_scale.block16", 128, 256, 3, 16, 0, false},
                    LongCase{"nvf4_narrow", "kind::mxf4nvf4.block_scale.block16", 128, 40, 4, 16, 0, false},
                    LongCase{"nvf4_by_exponents", "kind::mxf4nvf4.block_scale.scale_vec::2X", 128, 64, 4, 32, 1, false},
                    LongCase{"mxf4_eight", "kind::mxf4.block_scale", 128, 128, 8, 32, 1, false},
                    LongCase{"mxf4_wide", "kind::mxf4.block_scale.block32", 128, 192, 4, 32, 1, false},
                    LongCase{"nvf4_pair", "kind::mxf4nvf4.block_scale.scale_vec::4X", 256, 256, 5, 16, 0, true},
                    LongCase{"mxf4_pair", "kind::mxf4.block_scale", 256, 64, 8, 32, 1, true}),
    [](const auto& info) { return std::string(info.param.name); });

// PTX ISA, "Absolute address mode for K dimension being 48B", and table 47 of the instruction descriptor.
TEST(LongTensorProducts, RefusesWhatTheManualExcludes) {
  const LongMatrix matrix{0, 128};
  const std::uint32_t type = InstructionBits{.a = 1, .b = 1}.scaled_bits(0, 0, 0) | 1u << 31;
  const auto message = [&](auto change) {
    TensorRun run;
    run.gpu = "b300", run.target = "sm_103a";
    run.a = run.b = matrix.bits(2);
    run.i = type;
    run.p = false;
    run.instructions =
        "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X [%y], %a, %b, %i, [300], [320], %p;";
    change(run);
    const LaunchResult r = run.run();
    return r.fault ? r.fault->message : std::string("no fault");
  };
  const auto has = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(message([](TensorRun&) {}), "no fault");
  has(message([](TensorRun& r) { r.gpu = "b200", r.target = "sm_100a"; }), "compute capability 10.3");
  has(message([](TensorRun& r) { r.a &= ~(std::uint64_t{1} << 52); }), "needs the absolute address mode");
  has(message([](TensorRun& r) { r.b ^= std::uint64_t{6} << 61; }), "needs 128-byte swizzling");
  has(message([](TensorRun& r) { r.b |= std::uint64_t{1} << 49; }), "needs a base offset of 0");
  has(message([](TensorRun& r) { r.i |= 1 << 29; }), "must be 0 or 2");
  has(message([](TensorRun& r) {
        r.i |= 4;
        r.instructions =
            "tcgen05.mma.sp.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X [%y], %a, %b, [400], %i, [300], "
            "[320], %p;";
      }),
      "is for a dense A");
}

}  // namespace
}  // namespace warpgrind::device
