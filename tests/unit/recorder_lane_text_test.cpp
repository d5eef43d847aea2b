#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "recorder/lane_text.h"

namespace warpgrind::recorder {
namespace {

std::string numbers(const std::vector<std::int64_t>& all) {
  return runs_of(std::span<const std::int64_t>(all));
}
std::string texts(const std::vector<std::string>& all) {
  return runs_of(std::span<const std::string>(all));
}

TEST(LaneText, Numbers) {
  EXPECT_EQ(numbers({}), "");
  EXPECT_EQ(numbers({7}), ":7");
  EXPECT_EQ(numbers({7, 7}), "2:7");
  EXPECT_EQ(numbers({0, 4, 8, 12}), "4+4:0");
  EXPECT_EQ(numbers({9, 6, 3, 0}), "4+-3:9");
  EXPECT_EQ(numbers({1, 2, 9, 9, 9}), ":1\t:2\t3:9");  // two growing numbers are no run
  constexpr auto kLow = std::numeric_limits<std::int64_t>::min(), kHigh = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(numbers({kLow, kHigh}), ":-9223372036854775808\t:9223372036854775807");
}

TEST(LaneText, Texts) {
  EXPECT_EQ(texts({"0.5", "0.5", "1"}), "2:0.5\t:1");
  EXPECT_EQ(texts({"1", "2", "3"}), "3+1:1");
  EXPECT_EQ(texts({"01", "02", "03"}), ":01\t:02\t:03");  // no numbers as they are written
  EXPECT_EQ(texts({"90071992547409930", "90071992547409930"}), "2:90071992547409930");  // more than a double holds
  EXPECT_EQ(texts({"a\tb\n"}), ":a b ");
}

}  // namespace
}  // namespace warpgrind::recorder
