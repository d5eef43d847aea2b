#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "base/recycling_allocator.h"

namespace warpgrind {
namespace {

// Sizes below, within and above those that are kept.
TEST(RecyclingAllocator, ArraysOfAllSizes) {
  for (const std::size_t count : {1u, 100u, 1024u, 1025u, 100'000u, 3'000'000u})
    for (int again = 0; again < 3; ++again) {
      std::vector<int, RecyclingAllocator<int>> a(count), b(count, 7);
      std::iota(a.begin(), a.end(), 0);
      ASSERT_EQ(a.back(), static_cast<int>(count) - 1);
      ASSERT_EQ(b.front() + b.back(), 14);
    }
}

TEST(RecyclingAllocator, AFreedArrayIsTheNextOne) {
  void* const first = take_array(100'000);
  give_array(first, 100'000);
  void* const second = take_array(90'000);  // of the same power of two
  EXPECT_EQ(second, first);
  give_array(second, 90'000);
}

}  // namespace
}  // namespace warpgrind
