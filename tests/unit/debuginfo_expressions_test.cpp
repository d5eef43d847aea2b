// DWARF expressions, ranges and forms that today's compilers seldom write, in units written by hand after the standard.
#include <algorithm>

#include "debuginfo_fixture.h"

namespace {

using namespace warpgrind;
using namespace warpgrind::debuginfo;

// `%r1` and `%r9` as DW_OP_regx has them: 0x257231 and 0x257239 in ULEB128.
const std::string kR1 = "177,228,149,1", kR9 = "185,228,149,1";

// A kernel with variables that `entries` describe. Entry 12 (0xc) is the type int. Abbreviations: 3 variable with a
// place, 4 with an address class too, 5 with a constant, 7 block with ranges.
std::shared_ptr<ptx::Module> kernel_with(const std::string& entries) {
  const std::string text = fmt::format(R"(.version 8.0
.target sm_90, debug
.address_size 64
.global .align 4 .u32 x;
.file 1 "a.cu"
.visible .entry k(.param .u32 p) {{
.local .align 8 .b8 __local_depot0[16];
.reg .b32 %r<4>;
.loc 1 1 0
begin: mov.u32 %r1, %tid.x;
one: mov.u32 %r2, %r1;
two: mov.u32 %r3, %r2;
three: ret;
end:
}}
.section .debug_abbrev {{
.b8 1,17,1,0,0
.b8 2,46,1,3,8,17,1,18,1,0,0
.b8 3,52,0,3,8,73,19,2,10,0,0
.b8 4,52,0,3,8,73,19,51,11,2,10,0,0
.b8 5,52,0,3,8,73,19,28,6,0,0
.b8 6,36,0,3,8,62,11,11,11,0,0
.b8 7,11,1,85,6,0,0
.b8 0
}}
.section .debug_ranges {{
.b64 one, two, three, end, 0, 0
}}
.section .debug_info {{
.b32 unit_end-unit_begin
unit_begin:
.b8 2,0
.b32 .debug_abbrev
.b8 8
.b8 1
.b8 6,105,110,116,0,5,4
.b8 2,107,0
.b64 begin, end
{}
.b8 0
.b8 0
unit_end:
}}
)",
                                       entries);
  auto module = ptx::parse(text, "kernel");
  EXPECT_TRUE(module) << module.error().detail;
  return module ? *module : nullptr;
}

std::size_t count_of(const std::string& bytes) {
  return bytes.empty() ? 0 : static_cast<std::size_t>(std::count(bytes.begin(), bytes.end(), ',')) + 1;
}

// Place of a variable with this expression.
Location place_of(const std::string& expression, unsigned address_class = 0) {
  const bool has_class = address_class != 0;
  const DebugInfo info(kernel_with(fmt::format(".b8 {},118,0\n.b32 12\n.b8 {}{}{}{}", has_class ? 4 : 3,
                                               has_class ? fmt::format("{},", address_class) : "", count_of(expression),
                                               expression.empty() ? "" : ",", expression)));
  const std::vector<VisibleVariable> all = info.variables({0, 0});
  EXPECT_EQ(all.size(), 1u) << expression;
  EXPECT_TRUE(info.problems().empty()) << info.problems()[0];
  return all.empty() ? Location() : all[0].location;
}

std::string place_text(const std::string& expression, unsigned address_class = 0) {
  const auto module = kernel_with("");
  return location_text(place_of(expression, address_class), *module, 0);
}

std::string why(const std::string& expression) {
  const Location place = place_of(expression);
  const auto* none = std::get_if<NoValue>(&place);
  return none ? none->why : "it has a place";
}

TEST(DebugExpressions, RegistersHoldValuesOrAddresses) {
  EXPECT_EQ(place_text("144," + kR1), "reg %r1");                           // DW_OP_regx
  EXPECT_EQ(place_text("144," + kR1, 2), "reg %r1");                        // class: register
  EXPECT_EQ(place_text("144," + kR1, 8), "shared[%r1+0]");                  // class: shared
  EXPECT_EQ(place_text("146," + kR1 + ",120"), "generic[%r1+-8]");          // DW_OP_bregx, -8
  EXPECT_EQ(place_text("146," + kR1 + ",8,6"), "generic[%r1+8] indirect");  // and DW_OP_deref
  EXPECT_EQ(place_text("146," + kR1 + ",0,35,16", 6), "local[%r1+16]");     // and DW_OP_plus_uconst 16
  EXPECT_EQ(place_text("146," + kR1 + ",0,159"), "reg %r1");                // and DW_OP_stack_value
}

TEST(DebugExpressions, FrameIsTheDepot) {
  EXPECT_EQ(place_text("145,8"), "local __local_depot0+8");  // DW_OP_fbreg 8
}

TEST(DebugExpressions, SpacesCanStandInTheExpression) {
  // DW_OP_bregx, DW_OP_constu 8, DW_OP_swap, DW_OP_xderef
  EXPECT_EQ(place_text("146," + kR1 + ",4,16,8,22,24"), "shared[%r1+4]");
}

TEST(DebugExpressions, AddressesCanBeNumbers) {
  EXPECT_EQ(place_text("10,16,0,35,4", 8), "shared at 0x14");  // DW_OP_const2u 16, DW_OP_plus_uconst 4
}

TEST(DebugExpressions, ConstantsAreAsLongAsTheirType) {
  EXPECT_EQ(place_text("10,44,1,159"), "constant 44 1 0 0");            // DW_OP_const2u 300, DW_OP_stack_value
  EXPECT_EQ(place_text("9,254,159"), "constant 254 255 255 255");       // DW_OP_const1s -2
  EXPECT_EQ(place_text("53,159"), "constant 5 0 0 0");                  // DW_OP_lit5
  EXPECT_EQ(place_text("158,4,1,2,3,4"), "constant 1 2 3 4");           // DW_OP_implicit_value
  const DebugInfo info(kernel_with(".b8 5,118,0\n.b32 12\n.b32 258"));  // DW_AT_const_value
  ASSERT_EQ(info.variables({0, 0}).size(), 1u);
  EXPECT_EQ(location_text(info.variables({0, 0})[0].location, info.module(), 0), "constant 2 1 0 0");
}

TEST(DebugExpressions, PiecesKeepTheirOrderAndSizes) {
  const Location place = place_of("144," + kR1 + ",147,4,147,2");  // DW_OP_regx, DW_OP_piece 4, DW_OP_piece 2
  const auto* pieces = std::get_if<Pieces>(&place);
  ASSERT_TRUE(pieces);
  ASSERT_EQ(pieces->pieces.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<InRegister>(pieces->pieces[0].location));
  EXPECT_EQ(pieces->pieces[0].size, 4u);
  EXPECT_TRUE(std::holds_alternative<NoValue>(pieces->pieces[1].location));
  EXPECT_EQ(pieces->pieces[1].size, 2u);
}

TEST(DebugExpressions, WhatCannotBeFollowedSaysWhy) {
  EXPECT_NE(why("144," + kR9).find("%r9"), std::string::npos);  // the code has no such register
  EXPECT_NE(why("255").find("0xff"), std::string::npos);
  EXPECT_NE(why("10,1").find("truncated"), std::string::npos);
  EXPECT_NE(why("34").find("0x22"), std::string::npos);  // DW_OP_plus of nothing
  EXPECT_NE(why("").find("optimised away"), std::string::npos);
}

TEST(DebugExpressions, AddressesOfVariablesAreNames) {
  const auto text_of = [](const char* symbol) {
    const DebugInfo info(kernel_with(fmt::format(".b8 3,118,0\n.b32 12\n.b8 11,3\n.b64 {}\n.b8 35,4", symbol)));
    return location_text(info.variables({0, 0}).at(0).location, info.module(), 0);
  };
  EXPECT_EQ(text_of("x"), "global x+4");
  EXPECT_EQ(text_of("x+8"), "global x+12");
  EXPECT_EQ(text_of("__local_depot0"), "local __local_depot0+4");
  EXPECT_EQ(text_of("p"), "param p+4");
  EXPECT_EQ(text_of("gone"), "none");
}

TEST(DebugExpressions, BlocksCanHaveSeveralRanges) {
  const DebugInfo info(kernel_with(".b8 7\n.b32 .debug_ranges\n.b8 3,118,0\n.b32 12\n.b8 5,144," + kR1 + "\n.b8 0"));
  std::string seen;
  for (std::uint32_t i = 0; i < 4; ++i) seen += info.variables({0, i}).empty() ? '-' : 'v';
  EXPECT_EQ(seen, "-v-v");  // one ... two, three ... end
}

// DWARF 4 and 5: DW_FORM_exprloc, implicit_const (77 in SLEB128), flag_present, data_bit_offset, lengths instead of
// ends.
TEST(DebugExpressions, UnitsOfVersionFiveAreRead) {
  auto module = ptx::parse(R"(.version 8.0
.target sm_90, debug
.address_size 64
.file 1 "a.cu"
.visible .entry k() {
.reg .b32 %r<3>;
.loc 1 1 0
begin: mov.u32 %r1, %tid.x;
one: mov.u32 %r2, %r1;
ret;
end:
}
.section .debug_str {
name: .b8 118,97,114,0
}
.section .debug_abbrev {
.b8 1,17,1,0,0
.b8 2,46,1,3,8,17,1,18,6,63,25,0,0
.b8 3,52,0,3,14,73,19,59,33,205,0,2,24,0,0
.b8 4,19,1,3,8,11,11,0,0
.b8 5,13,0,3,8,73,19,107,11,13,11,0,0
.b8 6,36,0,3,8,62,11,11,11,0,0
.b8 0
}
.section .debug_info {
.b32 unit_end-unit_begin
unit_begin:
.b8 5,0,1,8
.b32 .debug_abbrev
.b8 1
.b8 6,105,110,116,0,5,4
.b8 4,83,0,4
.b8 5,98,0
.b32 13
.b8 11,7
.b8 0
.b8 2,107,0
.b64 begin
.b32 end-begin
.b8 3
.b32 name
.b32 20
.b8 5,144,177,228,149,1
.b8 0,0
unit_end:
}
)",
                           "five");
  ASSERT_TRUE(module) << module.error().detail;
  const DebugInfo info(*module);
  const std::vector<VisibleVariable> all = info.variables({0, 1});
  EXPECT_TRUE(info.problems().empty()) << info.problems()[0];
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].variable->name, "var");
  EXPECT_EQ(all[0].variable->declared.line, 77u);
  EXPECT_EQ(location_text(all[0].location, info.module(), 0), "reg %r1");
  const Type& type = info.type(all[0].variable->type);
  ASSERT_EQ(type.members.size(), 1u);
  // Bit 11 of the structure: bit 3 of byte 1.
  EXPECT_EQ(type.members[0].offset, 1u);
  EXPECT_EQ(type.members[0].bit_offset, 3u);
  EXPECT_EQ(type.members[0].bit_size, 7u);
  EXPECT_EQ(info.function(0).code[0].end, 3u);
}

}  // namespace
