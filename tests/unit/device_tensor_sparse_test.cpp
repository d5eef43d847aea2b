// Sparse products of tcgen05.mma.sp against plain loops. The places of the metadata are those of CUTLASS's fragments
// (tmem_e_frg). All sums are exact. Not held against hardware.
#include <cmath>
#include <random>

#include "device_tensor_fixture.h"
#include "gpu/half.h"

namespace warpgrind::device {
namespace {

struct SparseCase {
  const char* name;
  const char* kind;
  unsigned size;  // bits of an element
  unsigned code, d_code, m, n, k, selector;
  bool a_in_tensor = false, stationary = false, pair = false;
  friend void PrintTo(const SparseCase& c, std::ostream* out) { *out << c.name; }
};

class SparseTensorProducts : public testing::TestWithParam<SparseCase> {
 protected:
  static constexpr unsigned kMetadata = 300, kLeft = 400;

  // Bit of tensor memory where the metadata of element `k` of a row begin: lane, column, bit (tmem_e_frg).
  static std::array<unsigned, 3> metadata_place(const SparseCase& c, unsigned row, unsigned k) {
    const unsigned element = k;
    if (c.size == 8) return {row, kMetadata + element / 32, element % 32};
    if (c.size == 16)
      return {row / 16 * 16 + row % 8 + element / 16 * 8, kMetadata + c.selector, element % 16 + row / 8 % 2 * 16};
    return {row / 16 * 16 + row % 8 + element / 8 * 8, kMetadata + c.selector, element % 8 * 2 + row / 8 % 2 * 16};
  }
};

TEST_P(SparseTensorProducts, AreThoseOfPlainLoops) {
  const SparseCase c = GetParam();
  constexpr std::uint32_t kRight = 32 * 1024;
  std::mt19937 random(11);
  TensorRun run;
  SharedMatrix left, right;
  const unsigned blocks = c.pair ? 2 : 1, rows = c.m / blocks, columns = c.n / blocks;
  left.size = right.size = c.size / 8;
  left.stride = right.stride = 128;
  left.leading = rows * 16, right.leading = columns * 16;
  right.start = kRight;
  const auto bits_of = [&](int value) -> std::uint32_t {
    const auto f = static_cast<float>(value);
    std::uint32_t w;
    std::memcpy(&w, &f, 4);
    return c.size == 32 ? w : c.size == 16 ? float_to_half(f) : static_cast<std::uint8_t>(value);
  };
  std::vector<int> a(c.m * c.k), b(c.n * c.k);
  const unsigned group = c.size == 32 ? 2 : 4, stored = group / 2;
  static constexpr unsigned kIndexes[] = {0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b0110, 0b1110};
  for (unsigned i = 0; i < c.m; ++i)
    for (unsigned g = 0; g < c.k / group; ++g) {
      const bool empty = random() % 8 == 0;  // CUTLASS's compressor writes 0b0000 for a group of zeros
      const unsigned index = empty ? 0 : c.size == 32 ? (random() % 2 ? 0b1110 : 0b0100) : kIndexes[random() % 7];
      const auto [lane, column, bit] = metadata_place(c, i % rows, g * group);
      run.before[i / rows].at(lane, column) |= index << bit;
      for (unsigned e = 0; e < stored; ++e) {
        const int value = empty ? 0 : static_cast<int>(random() % 15) - 7;
        const unsigned at = c.size == 32 ? (index == 0b1110 ? 1 : 0) : index >> 2 * e & 3, k = g * stored + e;
        a[i * c.k + g * group + at] = value;
        const std::uint32_t bits = bits_of(value);
        if (c.a_in_tensor)
          run.before[0].at(i, kLeft + k * c.size / 32) |= bits << k * c.size % 32;
        else
          std::memcpy(run.shared[i / rows].data() + left.address(i % rows, k), &bits, c.size / 8);
      }
    }
  for (unsigned j = 0; j < c.n; ++j)
    for (unsigned k = 0; k < c.k; ++k) {
      const int value = b[j * c.k + k] = static_cast<int>(random() % 15) - 7;
      const std::uint32_t bits = bits_of(value);
      std::memcpy(run.shared[j / columns].data() + right.address(j % columns, k), &bits, c.size / 8);
    }
  run.instructions = std::string("  ") + (c.stationary ? "tcgen05.mma.ws.sp." : "tcgen05.mma.sp.") +
                     (c.pair ? "cta_group::2." : "cta_group::1.") + c.kind + " [%y], " +
                     (c.a_in_tensor ? "[400]" : "%a") + ", %b, [300], %i, %p;";
  run.a = left.bits(), run.b = right.bits();
  run.i = InstructionBits{c.d_code, c.code, c.code, c.m, c.n}.bits() | 4 | c.selector;
  run.p = false;
  run.pair = c.pair;
  const LaunchResult result = run.run();
  ASSERT_FALSE(result.fault) << result.fault->message;
  for (const Fault& w : result.warnings) ADD_FAILURE() << w.message;
  unsigned wrong = 0;
  for (unsigned i = 0; i < c.m; ++i)
    for (unsigned j = 0; j < c.n; ++j) {
      int sum = 0;
      for (unsigned k = 0; k < c.k; ++k) sum += a[i * c.k + k] * b[j * c.k + k];
      const std::uint32_t word = run.after[i / rows].at(i % rows, j);
      float f;
      std::memcpy(&f, &word, 4);
      const int got = c.d_code == 2 ? static_cast<int>(word) : static_cast<int>(f);
      if (got != sum && ++wrong < 4) ADD_FAILURE() << "row " << i << " column " << j << ": " << got << ", not " << sum;
    }
  EXPECT_EQ(wrong, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Forms, SparseTensorProducts,
    testing::Values(SparseCase{"f16", "kind::f16", 16, 0, 1, 128, 64, 32, 0},
                    SparseCase{"f16_second_column", "kind::f16", 16, 0, 1, 128, 64, 32, 1},
                    SparseCase{"f16_a_in_tensor", "kind::f16", 16, 0, 1, 128, 64, 32, 0, true},
                    SparseCase{"f16_stationary", "kind::f16", 16, 0, 1, 128, 128, 32, 0, false, true},
                    SparseCase{"f16_pair", "kind::f16", 16, 0, 1, 256, 64, 32, 0, false, false, true},
                    SparseCase{"tf32", "kind::tf32", 32, 2, 1, 128, 64, 16, 0},
                    SparseCase{"s8", "kind::i8", 8, 1, 2, 128, 64, 64, 0}),
    [](const auto& info) { return std::string(info.param.name); });

// The manual: 0b0000 is an invalid value, and the product undefined.
TEST(SparseTensorMetadata, MustSayWhereElementsThatAreNotZeroLie) {
  TensorRun run;
  SharedMatrix left, right;
  left.size = right.size = 1;
  left.stride = right.stride = 128;
  left.leading = 128 * 16, right.leading = 64 * 16;
  right.start = 32 * 1024;
  run.shared[0].at(left.address(5, 9)) = 3;  // the fifth group of four
  run.instructions = "  tcgen05.mma.sp.cta_group::1.kind::i8 [%y], %a, %b, [300], %i, %p;";
  run.a = left.bits(), run.b = right.bits();
  run.i = InstructionBits{2, 1, 1, 128, 64}.bits() | 4;
  run.p = false;
  const LaunchResult result = run.run();
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->message,
            "tcgen05.mma.sp: the metadata of row 5, elements 16 to 19, are 0b0000, which is no index");
}

}  // namespace
}  // namespace warpgrind::device
