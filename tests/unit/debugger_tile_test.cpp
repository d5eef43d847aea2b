// Tiles of memory. The texts were written by hand.
#include <array>

#include "debugger/tile.h"
#include "debugger_lane.h"

namespace {

using namespace debugger_test;

class DebuggerTiles : public testing::Test {
 protected:
  Scene s;
};

TEST_F(DebuggerTiles, TileOfFloats) {
  for (unsigned r = 0; r < 3; ++r)
    for (unsigned c = 0; c < 4; ++c)
      s.lane.put({StateSpace::shared, 64 + r * 20 + c * 4}, static_cast<float>(r) + static_cast<float>(c) / 2);
  const auto tile = debugger::read_tile(s.context, {{StateSpace::shared, 64}, 3, 4, 20, s.t_float});
  ASSERT_TRUE(tile.ok());
  EXPECT_EQ(debugger::tile_text(*tile),
            "     0   1   2   3\n"
            "0:   0 0.5   1 1.5\n"
            "1:   1 1.5   2 2.5\n"
            "2:   2 2.5   3 3.5\n"
            "minimum 0 at [0][0], maximum 3.5 at [2][3]\n");
}

TEST_F(DebuggerTiles, TileOfNarrowNumbers) {
  using debugger::Builtin;
  s.lane.put({StateSpace::shared, 0}, std::array<std::uint8_t, 4>{0x21, 0x43, 0x9f, 0x87});
  const auto text = [&](Builtin type, std::uint64_t rows, std::uint64_t columns) {
    const auto tile =
        debugger::read_tile(s.context, {{StateSpace::shared, 0}, rows, columns, 0, s.types.builtin(type)});
    return tile.ok() ? debugger::tile_text(*tile) : tile.error().message;
  };
  EXPECT_EQ(text(Builtin::s4x2, 2, 4),
            "    0  1  2  3\n"
            "0:  1  2  3  4\n"
            "1: -1 -7  7 -8\n"
            "minimum -8 at [1][3], maximum 7 at [1][2]\n");
  EXPECT_EQ(text(Builtin::fp4x2_e2m1, 1, 4),
            "     0   1   2   3\n"
            "0: 0.5   1 1.5   2\n"
            "minimum 0.5 at [0][0], maximum 2 at [0][3]\n");
  EXPECT_EQ(text(Builtin::unsigned_char, 1, 4),
            "     0   1   2   3\n"
            "0:  33  67 159 135\n"
            "minimum 33 at [0][0], maximum 159 at [0][2]\n");
  EXPECT_EQ(text(Builtin::s4x2, 1, 3), "'s4x2' holds 2 numbers: the number of columns must be a multiple of it");
  EXPECT_EQ(text(Builtin::int_, 1000, 1000), "a tile of 1000 x 1000 is too large: 65536 numbers at most");
  EXPECT_EQ(text(Builtin::int_, 0, 4), "a tile needs a row and a column at least");
}

// Rows that are equal are one line, parts are as wide as the terminal, and what was never written is no number.
TEST_F(DebuggerTiles, TileInATerminal) {
  for (unsigned i = 0; i < 40; ++i) s.lane.put({StateSpace::shared, 4 * i}, static_cast<int>(i < 24 ? 10 : i));
  for (unsigned i = 36 * 4; i < 40 * 4; ++i) s.lane.undefined_shared[i] = 0xff;
  s.lane.undefined_shared[0] = 1;  // one bit of the first number
  auto tile = debugger::read_tile(s.context, {{StateSpace::shared, 0}, 5, 8, 0, s.t_int});
  ASSERT_TRUE(tile.ok());
  EXPECT_EQ(tile->undefined, 5u);
  EXPECT_EQ(debugger::tile_text(*tile, 19),
            "      0  1  2  3\n"
            "  0:  ? 10 10 10\n"
            "1-2: 10 10 10 10\n"
            "  3: 24 25 26 27\n"
            "  4: 32 33 34 35\n"
            "      4  5  6  7\n"
            "0-2: 10 10 10 10\n"
            "  3: 28 29 30 31\n"
            "  4:  ?  ?  ?  ?\n"
            "minimum 10 at [0][1], maximum 35 at [4][3]\n"
            "? never written: 5 of 40 numbers\n");
}

TEST_F(DebuggerTiles, TileBeyondItsMemory) {
  const auto tile = debugger::read_tile(s.context, {{StateSpace::shared, 4088}, 2, 2, 0, s.t_int});
  ASSERT_TRUE(tile.ok());
  EXPECT_EQ(debugger::tile_text(*tile), "   0 1\n0: 0 0\n1: ? ?\n? row 1: nothing is allocated at this address\n");
}

}  // namespace
