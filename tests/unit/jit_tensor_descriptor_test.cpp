// Zero-column masks of tcgen05.mma.ws: the examples of PTX ISA, "Zero-Column Mask Descriptor".
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "jit/calls/tensor_descriptor.h"

namespace warpgrind::jit {
namespace {

struct MaskFields {
  std::array<unsigned, 4> start{}, first{};  // of sub-mask 0 to 3
  bool masks = true;
  unsigned skip = 2, use = 3, shift = 0;
  std::uint64_t bits() const {
    std::uint64_t b =
        std::uint64_t{masks} << 39 | std::uint64_t{skip} << 40 | std::uint64_t{use} << 48 | std::uint64_t{shift} << 56;
    for (unsigned k = 0; k < 4; ++k) b |= std::uint64_t{start[k]} << 8 * k | std::uint64_t{first[k]} << (32 + k);
    return b;
  }
};

// Columns `from` to `from` + 13, the first one last, as the manual writes masks.
std::string written(const ColumnMask& mask, unsigned from) {
  std::string text;
  for (unsigned c = 14; c-- > 0;) text += mask.zeroes[from + c] ? '1' : '0';
  return text;
}

TEST(TensorColumnMask, IsThatOfTheManualsExamples) {
  EXPECT_TRUE(decode_column_mask(MaskFields{.masks = false, .skip = 4}.bits(), 128, 256).zeroes.none());
  EXPECT_EQ(written(decode_column_mask(MaskFields{}.bits(), 128, 256), 0), "11100001110000");
  const ColumnMask two = decode_column_mask(MaskFields{.first = {1, 0, 0, 0}}.bits(), 64, 128);
  EXPECT_EQ(written(two, 0), "00001110000111");
  EXPECT_EQ(written(two, 64), "11100001110000");
  const ColumnMask four =
      decode_column_mask(MaskFields{.start = {0, 1, 2, 1}, .first = {1, 1, 0, 0}, .shift = 2}.bits(), 32, 128);
  EXPECT_EQ(four.shift, 2u);
  EXPECT_EQ(written(four, 0), "00001110000111");
  EXPECT_EQ(written(four, 32), "10000111000011");
  EXPECT_EQ(written(four, 64), "00111000011100");
  EXPECT_EQ(written(four, 96), "01110000111000");
}

}  // namespace
}  // namespace warpgrind::jit
