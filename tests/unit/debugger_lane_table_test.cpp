// Variables over a warp, and tiles of memory. The texts were written by hand.
#include <bit>
#include <cmath>
#include <memory>

#include "debugger/lane_table.h"
#include "debugger/tile.h"
#include "debugger_lane.h"

namespace {

using namespace debugger_test;

class DebuggerLanes : public testing::Test {
 protected:
  DebuggerLanes() {
    const ptx::RegId reg = s.reg("%r1", ptx::ScalarType::b32, 0);
    s.symbols.local("i", s.t_int, debuginfo::InRegister{reg});
    s.symbols.local("f", s.t_float, debuginfo::InRegister{reg});
    s.symbols.local("p", s.symbols.layer(TypeKind::pointer, s.t_int), debuginfo::InRegister{reg});
    for (unsigned l = 0; l < kWarpSize; ++l) {
      all.push_back(std::make_unique<TestLane>(s.lane));
      all[l]->lane_number = l;
      lanes.push_back(all[l].get());
    }
  }
  void set(unsigned lane, std::uint64_t bits) { all[lane]->registers[0].low = bits; }
  debugger::LaneTable table(const std::string& text, LaneMask active = kFullMask) {
    return debugger::make_lane_table(lanes, active, s.types, *debugger::parse_expression(text, s.types));
  }
  Scene s;
  std::vector<std::unique_ptr<TestLane>> all;
  std::vector<debugger::LaneView*> lanes;
};

TEST_F(DebuggerLanes, AllEqual) {
  for (unsigned l = 0; l < 32; ++l) set(l, 5);
  const debugger::LaneTable t = table("i");
  EXPECT_TRUE(t.all_equal);
  EXPECT_EQ(debugger::lane_table_text(t), "i (int): 5 in all 32 lanes\n");
}

TEST_F(DebuggerLanes, EachItsOwn) {
  const debugger::LaneTable t = table("threadIdx.x * 3");
  EXPECT_FALSE(t.all_equal);
  EXPECT_EQ(*t.minimum, 0u);
  EXPECT_EQ(*t.maximum, 31u);
  EXPECT_EQ(t.different, 0u) << "no value is frequent";
  EXPECT_EQ(debugger::lane_table_text(t),
            "threadIdx.x * 3 (unsigned int): 32 lanes, minimum 0 in lane 0, maximum 93 in lane 31\n"
            "   0:  0  3  6  9 12 15 18 21\n"
            "   8: 24 27 30 33 36 39 42 45\n"
            "  16: 48 51 54 57 60 63 66 69\n"
            "  24: 72 75 78 81 84 87 90 93\n");
}

TEST_F(DebuggerLanes, DifferentOnesAreMarked) {
  for (unsigned l = 0; l < 32; ++l) set(l, std::bit_cast<std::uint32_t>(1.5f));
  set(3, std::bit_cast<std::uint32_t>(NAN));
  set(9, std::bit_cast<std::uint32_t>(-2.f));
  for (unsigned l = 20; l < 32; ++l) lanes[l] = nullptr;
  const debugger::LaneTable t = table("f", ~(1u << 1));
  EXPECT_EQ(t.different, 1u << 3 | 1u << 9);
  EXPECT_EQ(t.not_a_number, 1u << 3);
  EXPECT_EQ(debugger::lane_table_text(t),
            "f (float): 19 active lanes of 20, minimum -2 in lane 9, maximum 1.5 in lane 0, NaN in lane 3\n"
            "   0:            1.5          (1.5)            1.5 nan(0x400000)*\n"
            "   4:            1.5            1.5            1.5            1.5\n"
            "   8:            1.5            -2*            1.5            1.5\n"
            "  12:            1.5            1.5            1.5            1.5\n"
            "  16:            1.5            1.5            1.5            1.5\n");
}

TEST_F(DebuggerLanes, SomeCannotBeRead) {
  for (unsigned l = 0; l < 32; ++l) set(l, l < 30 ? TestLane::kGlobal : 0);
  const debugger::LaneTable t = table("*p");
  EXPECT_EQ(t.with_value, 0x3fff'ffffu);
  const std::string text = debugger::lane_table_text(t);
  EXPECT_NE(text.find("\n  24: 0 0 0 0 0 0 ? ?\n   ? lanes 30, 31: nothing is allocated at this address\n"),
            std::string::npos)
      << text;
}

TEST_F(DebuggerLanes, MasksAsText) {
  EXPECT_EQ(debugger::lanes_text(0), "none");
  EXPECT_EQ(debugger::lanes_text(kFullMask), "0-31");
  EXPECT_EQ(debugger::lanes_text(0x8000'008b), "0, 1, 3, 7, 31");
}

TEST_F(DebuggerLanes, TileOfFloats) {
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

TEST_F(DebuggerLanes, TileOfNarrowNumbers) {
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
TEST_F(DebuggerLanes, TileInATerminal) {
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

TEST_F(DebuggerLanes, TileBeyondItsMemory) {
  const auto tile = debugger::read_tile(s.context, {{StateSpace::shared, 4088}, 2, 2, 0, s.t_int});
  ASSERT_TRUE(tile.ok());
  EXPECT_EQ(debugger::tile_text(*tile), "   0 1\n0: 0 0\n1: ? ?\n? row 1: nothing is allocated at this address\n");
}

}  // namespace
