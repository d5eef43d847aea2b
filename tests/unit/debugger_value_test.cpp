// Values of variables for each kind of place that DWARF describes.
#include <bit>

#include "debugger/arithmetic.h"
#include "debugger_lane.h"

namespace {

using namespace debugger_test;
using debugger::Value;

class DebuggerValue : public testing::Test {
 protected:
  Result<Value> read(TypeId type, Location location) {
    variable_ = TestSymbols::variable("v", type, location);
    return debugger::read_variable(s.context, {&variable_, location, 0, false});
  }
  std::int64_t integer(TypeId type, Location location) {
    const Result<Value> value = read(type, std::move(location));
    EXPECT_TRUE(value.ok());
    return value.ok() ? static_cast<std::int64_t>(debugger::number_of(s.types, *value)->as_integer()) : 0;
  }
  Scene s;
  Variable variable_;
};

TEST_F(DebuggerValue, EachKindOfPlace) {
  const ptx::RegId r = s.reg("%r1", ptx::ScalarType::b32, 0xffff'fffb);
  const ptx::RegId address = s.reg("%rd1", ptx::ScalarType::b64, TestLane::kGlobal + 8);
  s.lane.put({StateSpace::generic, TestLane::kGlobal + 24}, std::int32_t{-9});
  s.lane.put({StateSpace::generic, TestLane::kGlobal + 32}, TestLane::kGlobal + 24);
  s.lane.put({StateSpace::local, 40}, std::int32_t{123});
  s.lane.put({StateSpace::param, 16}, std::int32_t{456});
  s.lane.variables[4] = 36;
  s.lane.variables[5] = 16;
  EXPECT_EQ(integer(s.t_int, debuginfo::InRegister{r}), -5);
  EXPECT_EQ(integer(s.t_unsigned, debuginfo::InRegister{r}), 0xffff'fffb);
  EXPECT_EQ(integer(s.t_char, debuginfo::InRegister{r}), -5);
  EXPECT_EQ(integer(s.t_int, debuginfo::InVariable{StateSpace::local, ptx::Scope::function, 4, 4}), 123);
  EXPECT_EQ(integer(s.t_int, debuginfo::InVariable{StateSpace::param, ptx::Scope::function, 5, 0}), 456);
  EXPECT_EQ(integer(s.t_int, debuginfo::AtRegister{address, 16, StateSpace::generic, false}), -9);
  EXPECT_EQ(integer(s.t_int, debuginfo::AtRegister{address, 24, StateSpace::generic, true}), -9);
  EXPECT_EQ(integer(s.t_int, debuginfo::AtAddress{TestLane::kGlobal + 24, StateSpace::global}), -9);
  EXPECT_EQ(integer(s.t_int, debuginfo::ConstantValue{{0xfe, 0xff, 0xff, 0xff}}), -2);
  EXPECT_EQ(read(s.t_int, debuginfo::NoValue{"optimised away"}).error().message,
            "'v' has no value here: optimised away");
  EXPECT_EQ(read(s.t_int, debuginfo::InVariable{StateSpace::local, ptx::Scope::function, 9, 0}).error().message,
            "'v' has no value here: this kernel does not use it");
  EXPECT_EQ(read(s.t_int, debuginfo::AtAddress{4, StateSpace::global}).error().message,
            "'v' has no value here: nothing is allocated at this address");
}

TEST_F(DebuggerValue, Pieces) {
  auto& y = s.symbols;
  const TypeId pair =
      y.structure("Pair", 16, {y.member("a", s.t_int, 0), y.member("b", s.t_float, 4), y.member("c", s.t_long, 8)});
  const ptx::RegId a = s.reg("%r1", ptx::ScalarType::b32, 77);
  s.lane.put({StateSpace::local, 64}, 2.5f);
  debuginfo::Pieces pieces;
  pieces.pieces = {{debuginfo::InRegister{a}, 4},
                   {debuginfo::AtAddress{64, StateSpace::local}, 4},
                   {debuginfo::ConstantValue{{1, 0, 0, 0, 0, 0, 0, 0}}, 8}};
  y.local("v", pair, pieces);
  EXPECT_EQ(s.get<int>("v.a"), 77);
  EXPECT_EQ(s.get<float>("v.b"), 2.5f);
  EXPECT_EQ(s.get<long>("v.c"), 1);
  EXPECT_EQ(s.value("v").bytes.size(), 16u);
  s.value("v.a = -1", true);
  EXPECT_EQ(s.lane.registers[a].low & 0xffff'ffff, 0xffff'ffffu);
  s.value("v.b = 8", true);
  EXPECT_EQ(s.lane.get<float>({StateSpace::local, 64}), 8.f);
  EXPECT_EQ(s.error("v.c = 1", true), "only what is in memory or in a register can be assigned to");
  EXPECT_EQ(s.error("&v"), "it is in several pieces, and has no address");

  pieces.pieces[2].location = debuginfo::NoValue{"optimised away"};
  y.local("w", pair, pieces);
  EXPECT_EQ(s.get<float>("w.b"), 8.f) << "the pieces that are there can be read";
  EXPECT_EQ(s.error("w.c"), "it has no value here: optimised away");
}

// A structure in a register: half2, or a pair of shorts.
TEST_F(DebuggerValue, MembersInARegister) {
  auto& y = s.symbols;
  const TypeId pair = y.structure("short2", 4, {y.member("x", s.t_short, 0), y.member("y", s.t_short, 2)});
  const ptx::RegId r = s.reg("%r1", ptx::ScalarType::b32, 0xfffe'0005);
  y.local("v", pair, debuginfo::InRegister{r});
  EXPECT_EQ(s.get<short>("v.x"), 5);
  EXPECT_EQ(s.get<short>("v.y"), -2);
  s.value("v.y = 7", true);
  EXPECT_EQ(s.lane.registers[r].low, 0x0007'0005u);
  s.value("v.x = -1", true);
  EXPECT_EQ(s.lane.registers[r].low, 0x0007'ffffu);
}

// A type table that is wrong: the structure is larger than any register.
TEST_F(DebuggerValue, NothingBehindARegister) {
  auto& y = s.symbols;
  Member field = y.member("field", s.t_int, 12);
  field.bit_offset = 7;
  field.bit_size = 31;
  const TypeId large = y.structure(
      "Large", 64, {y.member("a", s.t_long, 8), y.member("b", s.t_int, 16), y.member("c", s.t_long, 12), field});
  y.local("v", large, debuginfo::InRegister{s.reg("%r1", ptx::ScalarType::b128, 5)});
  EXPECT_EQ(s.get<long>("v.a"), 0);
  EXPECT_EQ(s.error("v.b"), "the register ends before that");
  EXPECT_EQ(s.error("v.c"), "the register ends before that");
  EXPECT_EQ(s.error("v.field"), "the register ends before that");
}

TEST_F(DebuggerValue, NarrowNumbersAreExtendedInRegisters) {
  const ptx::RegId r = s.reg("%r1", ptx::ScalarType::b32, 0);
  s.symbols.local("c", s.t_char, debuginfo::InRegister{r});
  s.symbols.local("b", s.t_bool, debuginfo::InRegister{r});
  s.value("c = -2", true);
  EXPECT_EQ(s.lane.registers[r].low & 0xffff'ffff, 0xffff'fffeu);
  s.value("b = 4", true);
  EXPECT_EQ(s.lane.registers[r].low & 0xffff'ffff, 1u);
}

TEST_F(DebuggerValue, BaseClasses) {
  auto& y = s.symbols;
  const TypeId base = y.structure("Base", 4, {y.member("id", s.t_int, 0)}, TypeKind::class_type);
  Member inherited = y.member("Base", base, 0);
  inherited.is_base = true;
  Member fixed = y.member("kSize", s.t_int, 0);
  fixed.is_static = fixed.has_value = true;
  fixed.value = -12;
  Member elsewhere = y.member("V", base, 0);
  elsewhere.is_base = elsewhere.is_virtual = true;
  const TypeId derived = y.structure("Derived", 8, {inherited, y.member("x", s.t_int, 4), fixed}, TypeKind::class_type);
  s.lane.put({StateSpace::shared, 0}, std::array{31, 32});
  y.local("d", derived, debuginfo::AtAddress{0, StateSpace::shared});
  EXPECT_EQ(s.get<int>("d.id"), 31);
  EXPECT_EQ(s.get<int>("d.x"), 32);
  EXPECT_EQ(s.get<int>("d.kSize"), -12);
  const TypeId with_virtual = y.structure("W", 8, {elsewhere}, TypeKind::class_type);
  y.local("w", with_virtual, debuginfo::AtAddress{0, StateSpace::shared});
  EXPECT_EQ(s.error("w.id"), "'V' is a virtual base class: its place is not known");
}

}  // namespace
