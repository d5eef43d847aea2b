// Layouts of shared memory. The expected places follow the tables of "Shared memory swizzling" in the CUDA programming
// guide: row and column of 16 bytes, written out as loops.
#include <gtest/gtest.h>

#include "gpu/shared_layouts.h"

namespace warpgrind {
namespace {

constexpr SharedLayout kNone{TensorSwizzle::none}, k32{TensorSwizzle::b32}, k64{TensorSwizzle::b64},
    k128{TensorSwizzle::b128};

// Rows of `columns` pieces of 16 bytes; a pattern of `columns` rows, each of which holds for `height` rows.
void expect_pattern(const SharedLayout& layout, std::uint64_t columns, std::uint64_t height) {
  for (std::uint64_t row = 0; row < 64; ++row)
    for (std::uint64_t column = 0; column < columns; ++column) {
      const std::uint64_t there = column ^ (row / height % columns);
      EXPECT_EQ(layout.place((row * columns + column) * 16), (row * columns + there) * 16)
          << "row " << row << ", column " << column;
    }
}

TEST(SharedLayouts, Patterns) {
  expect_pattern(kNone, 1, 1);
  expect_pattern(k32, 2, 4);
  expect_pattern(k64, 4, 2);
  expect_pattern(k128, 8, 1);
}

// The pattern begins `base` lines of 128 bytes later: row `base` has the permutation of row 0.
TEST(SharedLayouts, BaseOffset) {
  for (std::uint8_t base = 0; base < 8; ++base)
    for (std::uint64_t row = 0; row < 32; ++row)
      for (std::uint64_t column = 0; column < 8; ++column) {
        const std::uint64_t there = column ^ ((row + 8 - base) % 8);
        EXPECT_EQ((SharedLayout{TensorSwizzle::b128, base}.place((row * 8 + column) * 16)), (row * 8 + there) * 16)
            << "base " << int{base} << ", row " << row << ", column " << column;
      }
}

TEST(SharedLayouts, ReadByAnotherBase) {
  SharedLayouts layouts;
  layouts.write(0, 2048, k128, 1);
  const auto written = layouts.differs(128, 1024, {TensorSwizzle::b128, 1});
  ASSERT_TRUE(written);
  EXPECT_EQ(written->layout, k128);
  EXPECT_FALSE(layouts.differs(128, 1024, k128)) << "patterns begin at multiples of 1024, wherever a reader begins";
  layouts.write(0, 2048, kNone, 1);
  EXPECT_FALSE(layouts.differs(0, 1024, {TensorSwizzle::none, 3})) << "nothing is permuted";
}

TEST(SharedLayouts, ReadByAnotherSwizzle) {
  SharedLayouts layouts;
  layouts.write(1024, 1024, k128, 7);
  EXPECT_FALSE(layouts.differs(1024, 1024, k128));
  EXPECT_FALSE(layouts.differs(0, 1024, kNone));  // not written
  EXPECT_FALSE(layouts.differs(2048, 4096, kNone));
  EXPECT_FALSE(layouts.differs(1024, 128, kNone)) << "the first line is the same in all layouts";
  const auto written = layouts.differs(1024, 1024, kNone);
  ASSERT_TRUE(written);
  EXPECT_EQ(written->layout, k128);
  EXPECT_EQ(written->copy, 7u);
  EXPECT_EQ(written->offset, 1024u + 128u);
}

TEST(SharedLayouts, OrdinaryStoresForget) {
  SharedLayouts layouts;
  layouts.write(0, 1024, k64, 1);
  ASSERT_TRUE(layouts.differs(0, 1024, k128));
  layouts.write(128, 896, std::nullopt, 2);
  EXPECT_FALSE(layouts.differs(0, 1024, k128)) << "only the first line is known, where both agree";
  layouts.write(512, 100, kNone, 3);
  const auto written = layouts.differs(0, 1024, k128);
  ASSERT_TRUE(written);
  EXPECT_EQ(written->copy, 3u);
  EXPECT_EQ(written->offset, 512u);
  layouts.clear();
  EXPECT_FALSE(layouts.differs(0, 1024, kNone));
}

}  // namespace
}  // namespace warpgrind
