// Values as text. The expectations marked gdb were printed by gdb 13.1 for the same variables of a C++ program; only
// floating numbers are shorter here. The bits of narrow formats are those of CUDA's headers (CUDA 13.0).
#include <immintrin.h>

#include <array>
#include <bit>
#include <cmath>
#include <tuple>

#include "debugger/expression.h"
#include "debugger/format.h"
#include "debugger/kept_values.h"
#include "debugger/number.h"
#include "debugger/scalar_text.h"
#include "debugger/type_text.h"
#include "debugger_lane.h"
#include "gpu/types.h"

namespace {

using namespace debugger_test;
using debugger::Format;

class DebuggerFormat : public testing::Test {
 protected:
  template <class T>
  void define(const char* name, TypeId type, const T& value) {
    s.lane.put({StateSpace::shared, next_}, value);
    s.symbols.local(name, type, debuginfo::AtAddress{next_, StateSpace::shared});
    next_ += (sizeof value + 15) / 16 * 16;
  }
  std::string text(const std::string& expression, Format format = Format::natural) {
    debugger::TextOptions options;
    options.format = format;
    return debugger::text_of(s.context, s.value(expression), options);
  }
  Scene s;
  std::uint64_t next_ = 0;
};

TEST_F(DebuggerFormat, Numbers) {
  define("f1", s.t_float, 0.1f);
  define("f2", s.t_float, 1e20f);
  define("f3", s.t_float, -0.f);
  define("d2", s.t_double, 1e300);
  define("not_a_number", s.t_float, 0x7fc00000);
  define("infinite", s.t_float, -INFINITY);
  EXPECT_EQ(text("f1"), "0.1");
  EXPECT_EQ(text("f2"), "1e+20");
  EXPECT_EQ(text("f3"), "-0");
  EXPECT_EQ(text("3.f"), "3");
  EXPECT_EQ(text("0.1"), "0.1");
  EXPECT_EQ(text("(double) 0.1f"), "0.10000000149011612");
  EXPECT_EQ(text("d2"), "1e+300");
  EXPECT_EQ(text("not_a_number"), "nan(0x400000)");  // gdb
  EXPECT_EQ(text("infinite"), "-inf");               // gdb
  EXPECT_EQ(text("-1"), "-1");
  EXPECT_EQ(text("0xffffffffffffffff"), "18446744073709551615");  // gdb
  EXPECT_EQ(text("true"), "true");
  EXPECT_EQ(text("1 > 2"), "false");
  // gdb, all four
  EXPECT_EQ(text("'a'"), "97 'a'");
  EXPECT_EQ(text("(char) -1"), "-1 '\\377'");
  EXPECT_EQ(text("'\\0'"), "0 '\\000'");
  EXPECT_EQ(text("'\\''"), "39 '\\''");
  EXPECT_EQ(text("(unsigned char) 200"), "200 '\\310'");  // gdb
  EXPECT_EQ(text("(signed char) 97"), "97 'a'");          // gdb
}

TEST_F(DebuggerFormat, LettersBehindPrint) {  // gdb, but for /f of 2 bytes
  define("i_neg", s.t_int, -1);
  define("i", s.t_int, 42);
  define("sh", s.t_short, short(-2));
  define("f1", s.t_float, 0.1f);
  const TypeId pair =
      s.symbols.structure("Pair", 8, {s.symbols.member("x", s.t_int, 0), s.symbols.member("y", s.t_float, 4)});
  define("pair", pair, std::pair(1, 2.5f));
  define("zeros", s.symbols.array(s.t_int, {16}), std::array<int, 16>{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
  define("text", s.symbols.array(s.t_char, {8}), std::array<char, 8>{'a', 'b', 'c'});
  EXPECT_EQ(text("i_neg", Format::hexadecimal), "0xffffffff");
  EXPECT_EQ(text("zeros", Format::hexadecimal), "{0x0 <repeats 15 times>, 0x1}");
  EXPECT_EQ(text("(unsigned char) 200", Format::decimal), "-56");
  EXPECT_EQ(text("i_neg", Format::unsigned_decimal), "4294967295");
  EXPECT_EQ(text("i", Format::octal), "052");
  EXPECT_EQ(text("0", Format::octal), "0");
  EXPECT_EQ(text("i", Format::binary), "101010");
  EXPECT_EQ(text("sh", Format::binary), "1111111111111110");
  EXPECT_EQ(text("i", Format::character), "42 '*'");
  EXPECT_EQ(text("f1", Format::hexadecimal), "0x3dcccccd");
  EXPECT_EQ(text("f1", Format::decimal), "1036831949");
  EXPECT_EQ(text("0x3dcccccd", Format::floating), "0.1");
  EXPECT_EQ(text("(short) 0x3e00", Format::floating), "1.5");  // a half; gdb knows none
  EXPECT_EQ(text("pair", Format::hexadecimal), "{x = 0x1, y = 0x40200000}");
  EXPECT_EQ(text("sh", Format::hexadecimal), "0xfffe");
  EXPECT_EQ(text("text", Format::hexadecimal), "{0x61, 0x62, 0x63, 0x0, 0x0, 0x0, 0x0, 0x0}");
  EXPECT_EQ(text("true", Format::decimal), "1");
  EXPECT_EQ(text("text", Format::string), "\"abc\"");
  EXPECT_EQ(debugger::format_of_letter('x'), Format::hexadecimal);
  EXPECT_FALSE(debugger::format_of_letter('y'));
}

TEST_F(DebuggerFormat, Arrays) {
  auto& y = s.symbols;
  define("zeros", y.array(s.t_int, {16}), std::array<int, 16>{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
  define("ten", y.array(s.t_int, {12}), std::array{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2});
  define("rows", y.array(s.t_int, {3, 4}), std::array{1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0});
  define("same_rows", y.array(s.t_int, {12, 3}), std::array<int, 36>{});
  // gdb, all
  EXPECT_EQ(text("zeros"), "{0 <repeats 15 times>, 1}");
  EXPECT_EQ(text("ten"), "{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2}");
  EXPECT_EQ(text("rows"), "{{1, 2, 3, 4}, {5, 6, 7, 8}, {0, 0, 0, 0}}");
  EXPECT_EQ(text("same_rows"), "{{0, 0, 0} <repeats 12 times>}");

  std::string expected = "{";
  for (int i = 0; i < 300; ++i)
    s.lane.put({StateSpace::generic, TestLane::kGlobal + 4 * static_cast<std::uint64_t>(i)}, i);
  for (int i = 0; i < 200; ++i) expected += (i ? ", " : "") + std::to_string(i);
  y.local("ramp", y.array(s.t_int, {300}), debuginfo::AtAddress{TestLane::kGlobal, StateSpace::global});
  EXPECT_EQ(text("ramp"), expected + "...}");  // gdb
  y.local("big", y.array(s.t_int, {10'000}), debuginfo::AtAddress{TestLane::kGlobal + 2048, StateSpace::global});
  EXPECT_EQ(text("big"), "{0 <repeats 10000 times>}");
  // Half of it is allocated.
  y.local("over", y.array(s.t_int, {4}), debuginfo::AtAddress{4088, StateSpace::shared});
  EXPECT_EQ(text("over[0]"), "0");
  EXPECT_EQ(s.error("over"), "nothing is allocated at this address");
  y.local("endless", y.array(s.t_int, {1'000'000'000'000}),
          debuginfo::AtAddress{TestLane::kGlobal, StateSpace::global});
  s.lane.bytes_read = 0;
  EXPECT_EQ(text("endless"), expected + "...}");
  EXPECT_LT(s.lane.bytes_read, 50'000u);
}

TEST_F(DebuggerFormat, Texts) {  // gdb, all
  const auto define_text = [&](const char* name, std::string characters, std::size_t size) {
    std::array<char, 32> bytes{};
    std::memcpy(bytes.data(), characters.data(), characters.size());
    define(name, s.symbols.array(s.t_char, {size}), bytes);
  };
  define_text("text", "abc", 8);
  define_text("padded", "abc", 20);
  define_text("full", "abc", 3);
  define_text("quotes", "a\"b\n\x01'", 10);
  define_text("xs", std::string(19, 'a'), 20);
  define_text("empty", "", 4);
  define_text("ten_x", std::string(10, 'x'), 11);
  define_text("mix", "abcyyyyyyyyyyyydef", 30);
  EXPECT_EQ(text("text"), R"("abc\000\000\000\000")");
  EXPECT_EQ(text("padded"), R"("abc", '\000' <repeats 16 times>)");
  EXPECT_EQ(text("full"), R"("abc")");
  EXPECT_EQ(text("quotes"), R"("a\"b\n\001'\000\000\000")");
  EXPECT_EQ(text("xs"), "'a' <repeats 19 times>");
  EXPECT_EQ(text("empty"), R"("\000\000\000")");
  EXPECT_EQ(text("ten_x"), R"("xxxxxxxxxx")");
  EXPECT_EQ(text("mix"), R"("abc", 'y' <repeats 12 times>, "def", '\000' <repeats 11 times>)");
}

TEST_F(DebuggerFormat, Enumerations) {
  auto& y = s.symbols;
  const TypeId plain = y.enumeration("Plain", s.t_unsigned, {{"red", 0}, {"green", 5}});
  const TypeId scoped = y.enumeration("Scoped", s.t_int, {{"red", 0}, {"green", 5}});
  y.types[scoped].is_scoped = true;
  const TypeId flags = y.enumeration("Flags", s.t_unsigned, {{"none_", 0}, {"a", 1}, {"b", 2}, {"c", 4}});
  define("pl", plain, 5);
  define("fl", flags, 3);
  define("sc", scoped, 5);
  // gdb, all
  EXPECT_EQ(text("pl"), "green");
  EXPECT_EQ(text("(Plain) 7"), "7");
  EXPECT_EQ(text("sc"), "Scoped::green");
  EXPECT_EQ(text("fl"), "(a | b)");
  EXPECT_EQ(text("(Flags) 9"), "(a | unknown: 0x8)");
  EXPECT_EQ(text("(Flags) 0"), "none_");
  EXPECT_EQ(text("(Flags) 8"), "(unknown: 0x8)");
  EXPECT_EQ(text("pl", Format::hexadecimal), "0x5");
}

TEST_F(DebuggerFormat, StructuresAndUnions) {
  auto& y = s.symbols;
  const TypeId pair = y.structure("Pair", 8, {y.member("x", s.t_int, 0), y.member("y", s.t_float, 4)});
  const TypeId base = y.structure("Base", 4, {y.member("id", s.t_int, 0)});
  Member inherited = y.member("Base", base, 0);
  inherited.is_base = true;
  Member fixed = y.member("kSize", s.t_int, 0);
  fixed.is_static = fixed.has_value = true;
  fixed.value = 12;
  const TypeId choice =
      y.structure("", 4, {y.member("i", s.t_int, 0), y.member("f", s.t_float, 0)}, TypeKind::union_type);
  Member low = y.member("low", s.t_unsigned, 16);
  low.bit_size = 3;
  const TypeId derived =
      y.structure("Derived", 20, {inherited, y.member("p", pair, 4), fixed, y.member("", choice, 12), low});
  define("pair", pair, std::pair(1, 2.5f));
  define("pp", y.array(pair, {2}), std::array<float, 4>{std::bit_cast<float>(1), 2, std::bit_cast<float>(3), 4});
  define("der", derived, std::array{1, 2, std::bit_cast<int>(1.5f), 1, 0xfd});
  EXPECT_EQ(text("pair"), "{x = 1, y = 2.5}");                // gdb
  EXPECT_EQ(text("pp"), "{{x = 1, y = 2}, {x = 3, y = 4}}");  // gdb
  EXPECT_EQ(text("der"), "{<Base> = {id = 1}, p = {x = 2, y = 1.5}, static kSize = 12, {i = 1, f = 1e-45}, low = 5}");
}

TEST_F(DebuggerFormat, Pointers) {
  auto& y = s.symbols;
  const TypeId to_int = y.layer(TypeKind::pointer, s.t_int), to_char = y.layer(TypeKind::pointer, s.t_char);
  const TypeId holder = y.structure(
      "Holder", 24,
      {y.member("p", to_int, 0), y.member("s", to_char, 8), y.member("r", y.layer(TypeKind::reference, s.t_int), 16)});
  s.lane.put({StateSpace::generic, TestLane::kGlobal + 32}, std::array<char, 6>{'h', 'e', 'l', 'l', 'o', 0});
  define("p", to_int, TestLane::kGlobal + 16);
  define("str", to_char, TestLane::kGlobal + 32);
  define("wild", to_int, std::uint64_t{0x1234});
  define("wild_text", to_char, std::uint64_t{0x2004});
  define("h", holder, std::array{TestLane::kGlobal + 16, TestLane::kGlobal + 32, TestLane::kGlobal + 64});
  EXPECT_EQ(text("p"), "(int *) 0x7f0000001010 <in a 65536-byte allocation, byte 16>");
  EXPECT_EQ(text("wild"), "(int *) 0x1234");
  EXPECT_EQ(text("(int *) 0"), "(int *) 0x0");            // gdb
  EXPECT_EQ(text("(void *) 0x1234"), "(void *) 0x1234");  // gdb
  EXPECT_EQ(text("str"), "0x7f0000001020 \"hello\"");
  EXPECT_EQ(text("wild_text"), "0x2004 <error: nothing is allocated at this address>");
  EXPECT_EQ(text("h"), "{p = 0x7f0000001010, s = 0x7f0000001020 \"hello\", r = @0x7f0000001040}");
  EXPECT_EQ(text("p", Format::hexadecimal), "0x7f0000001010");
  EXPECT_EQ(text("str", Format::string), "\"hello\"");
}

// Values of all bits, by the definitions of the formats: OCP MX 1.0 and IEEE 754, as CUDA's headers have them.
TEST_F(DebuggerFormat, NarrowNumbers) {
  const auto number = [&](debugger::Builtin type, unsigned bits) {
    const auto layout = debugger::number_layout(s.types, s.types.builtin(type));
    return debugger::number_text(*layout, bits, Format::natural);
  };
  using debugger::Builtin;
  // cuda_fp16.h: CUDART_ONE_FP16 0x3c00, CUDART_MAX_NORMAL_FP16 0x7bff, CUDART_MIN_DENORM_FP16 0x0001, CUDART_INF_FP16.
  EXPECT_EQ(number(Builtin::half, 0x3c00), "1");
  EXPECT_EQ(number(Builtin::half, 0x7bff), "65504");
  EXPECT_EQ(number(Builtin::half, 0x0001), "6e-08");
  EXPECT_EQ(number(Builtin::half, 0x7c00), "inf");
  EXPECT_EQ(number(Builtin::half, 0x7fff), "nan");
  EXPECT_EQ(number(Builtin::half, 0x2e66), "0.1");
  EXPECT_EQ(number(Builtin::half, 0x8000), "-0");
  EXPECT_EQ(number(Builtin::bf16, 0x3f80), "1");
  EXPECT_EQ(number(Builtin::bf16, 0x3dcd), "0.1");
  EXPECT_EQ(number(Builtin::bf16, 0xff80), "-inf");
  EXPECT_EQ(number(Builtin::fp8_e4m3, 0x7e), "448");
  EXPECT_EQ(number(Builtin::fp8_e4m3, 0x7f), "nan");
  EXPECT_EQ(number(Builtin::fp8_e4m3, 0x01), "0.001953125");  // 2^-9
  EXPECT_EQ(number(Builtin::fp8_e4m3, 0x3a), "1.25");
  EXPECT_EQ(number(Builtin::fp8_e5m2, 0x7b), "57344");
  EXPECT_EQ(number(Builtin::fp8_e5m2, 0x7c), "inf");
  EXPECT_EQ(number(Builtin::fp8_e8m0, 127), "1");
  EXPECT_EQ(number(Builtin::fp8_e8m0, 255), "nan");
  EXPECT_EQ(number(Builtin::fp6_e2m3, 0x1f), "7.5");
  EXPECT_EQ(number(Builtin::fp6_e3m2, 0x1f), "28");
  for (const auto& [bits, expected] : {std::pair(0u, "0"),
                                       {1u, "0.5"},
                                       {2u, "1"},
                                       {3u, "1.5"},
                                       {4u, "2"},
                                       {5u, "3"},
                                       {6u, "4"},
                                       {7u, "6"},
                                       {15u, "-6"}})
    EXPECT_EQ(number(Builtin::fp4_e2m1, bits), expected);

  const TypeId half2 = s.symbols.base("half2", 4, NumberFormat::half, 2);
  const TypeId fp4x2 = s.symbols.base("fp4x2", 1, NumberFormat::fp4_e2m1, 2);
  define("h2", half2, 0xc000'3e00);
  define("f4", s.symbols.array(fp4x2, {2}), std::array<std::uint8_t, 2>{0x71, 0xf0});
  EXPECT_EQ(text("h2"), "{1.5, -2}");
  EXPECT_EQ(text("f4"), "{{0.5, 6}, {0, -6}}");
  EXPECT_EQ(text("*(half *) &h2 * 3"), "4.5");
}

// Each half reads back from its text: strtod, and the rounding of the host's own instruction.
TEST_F(DebuggerFormat, TextsOfHalfReadBack) {
  const auto layout = debugger::number_layout(s.types, s.types.builtin(debugger::Builtin::half));
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    if ((bits & 0x7fff) > 0x7c00) continue;
    const std::string text = debugger::number_text(*layout, bits, Format::natural);
    const float back = std::strtof(text.c_str(), nullptr);
    ASSERT_EQ(_cvtss_sh(back, 0), bits) << text;
  }
}

TEST_F(DebuggerFormat, Trees) {
  auto& y = s.symbols;
  const TypeId pair = y.structure("Pair", 8, {y.member("x", s.t_int, 0), y.member("y", s.t_float, 4)});
  const TypeId base = y.structure("Base", 8, {y.member("pair", pair, 0)});
  Member inherited = y.member("Base", base, 0);
  inherited.is_base = true;
  const TypeId node = y.structure("Node", 16, {inherited, y.member("next", y.layer(TypeKind::pointer, pair), 8)});
  s.lane.put({StateSpace::generic, TestLane::kGlobal + 128}, std::pair(8, 9.f));
  struct {
    int x = 3;
    float y = 4;
    std::uint64_t next = TestLane::kGlobal + 128;
  } value;
  define("n", node, value);
  y.local("big", y.array(s.t_int, {1'000'000'000}), debuginfo::AtAddress{TestLane::kGlobal, StateSpace::global});
  s.lane.put({StateSpace::generic, TestLane::kGlobal + 4 * 5000}, 55);
  define("p", y.layer(TypeKind::pointer, s.t_float), TestLane::kGlobal + 132);

  const auto rows = [&](const std::string& path, std::uint64_t first = 0, std::uint64_t count = 100) {
    std::string text;
    for (const debugger::Child& child : debugger::children(s.context, s.value(path), path, first, count)) {
      text += (text.empty() ? "" : "; ") + child.name + ": " + debugger::text_of(s.context, child.value) + " [" +
              std::to_string(debugger::child_count(s.types, child.value)) + "]";
      EXPECT_EQ(debugger::text_of(s.context, s.value(child.path)), debugger::text_of(s.context, child.value))
          << child.path;
      if (child.name == "Base") EXPECT_EQ(child.path, path) << "members of a base class are members";
    }
    return text;
  };
  const auto n = debugger::children(s.context, s.value("n"), "n", 0, 10);
  ASSERT_EQ(n.size(), 2u);
  EXPECT_EQ(n[0].name, "Base");
  EXPECT_EQ(debugger::text_of(s.context, n[0].value), "{pair = {x = 3, y = 4}}");
  EXPECT_EQ(rows("n.pair"), "x: 3 [0]; y: 4 [0]");
  EXPECT_EQ(rows("n.next"), "x: 8 [0]; y: 9 [0]");
  EXPECT_EQ(rows("p"), "*: 9 [0]");
  EXPECT_EQ(debugger::child_count(s.types, s.value("big")), 1'000'000'000u);
  s.lane.bytes_read = 0;
  EXPECT_EQ(rows("big", 4999, 2), "[4999]: 0 [0]; [5000]: 55 [0]");
  EXPECT_LE(s.lane.bytes_read, 24u) << "two elements, three times";
  EXPECT_EQ(debugger::children(s.context, s.value("big"), "big", 1'000'000'000, 2).size(), 0u);
}

// Bytes 0 to 3 and bit 4 of byte 8 were never written.
TEST_F(DebuggerFormat, Undefined) {
  const TypeId ints = s.symbols.array(s.t_int, {4});
  TypeId bits = s.symbols.structure("Bits", 12, {});
  for (const auto& [name, first, count] : {std::tuple{"low", 0u, 4u}, std::tuple{"high", 4u, 4u}}) {
    Member member = TestSymbols::member(name, s.t_unsigned, 8);
    member.bit_offset = first;
    member.bit_size = count;
    s.symbols.types[bits].members.push_back(member);
  }
  define("all", ints, std::array{1, 2, 3, 4});
  s.symbols.local("bits", bits, debuginfo::AtAddress{0, StateSpace::shared});
  for (std::uint64_t at = 0; at < 4; ++at) s.lane.undefined_shared[at] = 0xff;
  s.lane.undefined_shared[8] = 0xf0;
  EXPECT_EQ(text("all"), "{<undefined>, 2, 3 <partly undefined>, 4}");
  EXPECT_EQ(text("all[0]"), "<undefined>");
  EXPECT_EQ(text("all[0] + all[1]"), "<undefined>");
  EXPECT_EQ(text("all[1] + all[3]"), "6");
  EXPECT_EQ(text("-all[0]"), "<undefined>");
  EXPECT_EQ(text("(float)all[0]"), "<undefined>");
  EXPECT_EQ(text("bits"), "{low = 3, high = <undefined>}");
  s.lane.registers = {{5, 0}};
  s.symbols.local("r", s.t_int, debuginfo::InRegister{0});
  EXPECT_EQ(text("r"), "5");
  s.lane.unset.insert(0);
  EXPECT_EQ(text("r"), "<undefined>");
}

// Values of the history and of the user. A kept value does not follow its variable.
TEST_F(DebuggerFormat, KeptValues) {
  debugger::KeptValues kept;
  s.context.kept = &kept;
  define("i", s.t_int, 41);
  kept.remember(1, s.value("i"), s.types);
  kept.remember(2, s.value("$1 + 1"), s.types);
  s.value("i = 7", true);
  EXPECT_EQ(text("$1"), "41");
  EXPECT_EQ(text("$"), "42");
  EXPECT_EQ(text("$$ + $2"), "83");
  s.value("$sum = i * 2", true);
  EXPECT_EQ(text("$sum"), "14");
  EXPECT_EQ(s.error("$3"), "the history has no value $3");
  EXPECT_EQ(s.error("$$5"), "the history has 2 values");
  EXPECT_EQ(s.error("$1 = 4", true), "'$1' cannot be assigned to");
  debugger::TypeTable other{s.symbols};
  EXPECT_FALSE(kept.find("1", other).ok());
}

TEST_F(DebuggerFormat, TypeDefinitions) {
  const TypeId point = s.symbols.structure(
      "Point", 12, {TestSymbols::member("x", s.t_int, 0), TestSymbols::member("y", s.symbols.array(s.t_int, {2}), 4)});
  const TypeId pointer = s.symbols.layer(TypeKind::pointer, point);
  EXPECT_EQ(debugger::type_text(s.types, pointer), "struct Point {\n  int x;\n  int y[2];\n} *");
  EXPECT_EQ(debugger::type_text(s.types, s.t_float), "float");
  EXPECT_EQ(debugger::type_text(s.types, s.symbols.enumeration("Colour", s.t_int, {{"red", 0}, {"green", 5}})),
            "enum Colour : int {red, green = 5}");
  EXPECT_EQ(debugger::parse_type("Point *", s.types), s.types.pointer_to(point));
  EXPECT_EQ(debugger::parse_type("Point + 1", s.types), kVoidType);
}

}  // namespace
