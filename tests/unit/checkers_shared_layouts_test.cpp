// Layouts of shared memory. The expected places follow the tables of "Shared memory swizzling" in the CUDA programming
// guide: row and column of 16 bytes, written out as loops.
#include <gtest/gtest.h>

#include "checkers/shared_layouts.h"

namespace warpgrind::checkers {
namespace {

// Rows of `columns` pieces of 16 bytes; a pattern of `columns` rows, each of which holds for `height` rows.
void expect_pattern(Swizzle swizzle, std::uint64_t columns, std::uint64_t height) {
  for (std::uint64_t row = 0; row < 64; ++row)
    for (std::uint64_t column = 0; column < columns; ++column) {
      const std::uint64_t there = column ^ (row / height % columns);
      EXPECT_EQ(swizzled((row * columns + column) * 16, swizzle), (row * columns + there) * 16)
          << "row " << row << ", column " << column;
    }
}

TEST(SharedLayouts, Patterns) {
  expect_pattern(Swizzle::none, 1, 1);
  expect_pattern(Swizzle::bytes_32, 2, 4);
  expect_pattern(Swizzle::bytes_64, 4, 2);
  expect_pattern(Swizzle::bytes_128, 8, 1);
}

TEST(SharedLayouts, ReadByAnotherSwizzle) {
  SharedLayouts layouts;
  layouts.write(1024, 1024, Swizzle::bytes_128, 7);
  EXPECT_FALSE(layouts.differs(1024, 1024, Swizzle::bytes_128));
  EXPECT_FALSE(layouts.differs(1024, 1024, Swizzle::unknown));
  EXPECT_FALSE(layouts.differs(0, 1024, Swizzle::none));  // not written
  EXPECT_FALSE(layouts.differs(2048, 4096, Swizzle::none));
  EXPECT_FALSE(layouts.differs(1024, 128, Swizzle::none)) << "the first line is the same in all layouts";
  const auto written = layouts.differs(1024, 1024, Swizzle::none);
  ASSERT_TRUE(written);
  EXPECT_EQ(written->swizzle, Swizzle::bytes_128);
  EXPECT_EQ(written->site, 7u);
  EXPECT_EQ(written->offset, 1024u + 128u);
}

TEST(SharedLayouts, OrdinaryStoresForget) {
  SharedLayouts layouts;
  layouts.write(0, 1024, Swizzle::bytes_64, 1);
  ASSERT_TRUE(layouts.differs(0, 1024, Swizzle::bytes_128));
  layouts.write(128, 896, Swizzle::unknown, 2);
  EXPECT_FALSE(layouts.differs(0, 1024, Swizzle::bytes_128)) << "only the first line is known, where both agree";
  layouts.write(512, 100, Swizzle::none, 3);
  const auto written = layouts.differs(0, 1024, Swizzle::bytes_128);
  ASSERT_TRUE(written);
  EXPECT_EQ(written->site, 3u);
  EXPECT_EQ(written->offset, 512u);
  layouts.clear();
  EXPECT_FALSE(layouts.differs(0, 1024, Swizzle::none));
}

}  // namespace
}  // namespace warpgrind::checkers
