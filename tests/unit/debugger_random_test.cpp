// Random texts as expressions, and random types with cycles: no crash, no hang, and no memory without bound.
#include <random>

#include "debugger/format.h"
#include "debugger/tile.h"
#include "debugger_lane.h"

namespace {

using namespace debugger_test;
using Random = std::mt19937;

std::uint32_t below(Random& random, std::uint32_t n) {
  return static_cast<std::uint32_t>(random() % n);
}

template <class T, std::size_t N>
const T& one_of(Random& random, const T (&list)[N]) {
  return list[random() % N];
}

// A third stays as it is. Sizes and places of the others fit into the memory of the lane.
void make_plausible(Random& random, Type& type) {
  const TypeKind kinds[] = {TypeKind::base,      TypeKind::pointer,   TypeKind::pointer,     TypeKind::structure,
                            TypeKind::structure, TypeKind::array,     TypeKind::enumeration, TypeKind::alias,
                            TypeKind::reference, TypeKind::union_type};
  type.kind = one_of(random, kinds);
  const bool is_structure = type.kind == TypeKind::structure || type.kind == TypeKind::union_type;
  type.size = is_structure ? 64 : type.kind == TypeKind::base || type.kind == TypeKind::enumeration ? 4 : 8;
  type.components = 1;
  if (is_structure) type.format = NumberFormat::none;
  if (type.format == NumberFormat::none && type.kind == TypeKind::base) type.format = NumberFormat::signed_integer;
  type.is_complete = true;
  type.dimensions.assign(1 + below(random, 2), 3);
  for (Member& member : type.members) {
    member.offset %= 64;
    if (member.bit_size > 64) member.bit_size = 0;
    member.bit_offset = 0;
  }
}

// Types that refer to each other in any way, also to themselves and to what does not exist.
void add_random_types(Random& random, TestSymbols& symbols) {
  const std::uint32_t count = 5 + below(random, 30);
  const auto any_id = [&] {
    return below(random, 12) == 0 ? static_cast<TypeId>(random()) & 0x800000ff : below(random, count + 12);
  };
  for (std::uint32_t i = 0; i < count; ++i) {
    Type type;
    type.kind = static_cast<TypeKind>(below(random, static_cast<std::uint32_t>(TypeKind::unspecified) + 1));
    const std::uint64_t sizes[] = {0, 1, 2, 3, 4, 8, 12, 16, 17, 400, 5000, 1ull << 40, ~0ull};
    type.size = one_of(random, sizes);
    type.format = static_cast<NumberFormat>(below(random, static_cast<std::uint32_t>(NumberFormat::fp4_e2m1) + 1));
    const std::uint32_t components[] = {0, 1, 1, 1, 2, 4, 17, ~0u};
    type.components = one_of(random, components);
    type.target = any_id();
    type.name = "T" + std::to_string(below(random, 8));
    type.is_complete = below(random, 8) != 0;
    for (std::uint32_t d = below(random, 4); d > 0; --d) {
      const std::uint64_t dimensions[] = {0, 1, 3, 100, 1ull << 20, ~0ull};
      type.dimensions.push_back(one_of(random, dimensions));
    }
    for (std::uint32_t m = below(random, 6); m > 0; --m) {
      const char* names[] = {"", "", "x", "y", "next"};
      const std::uint64_t offsets[] = {0, 0, 4, 8, 15, 4000, 1ull << 50, ~0ull};
      const std::uint32_t bits[] = {0, 0, 0, 1, 7, 33, 64, 65, 128, 200, ~0u};
      Member member = TestSymbols::member(one_of(random, names), any_id(), one_of(random, offsets));
      member.bit_size = one_of(random, bits);
      member.bit_offset = one_of(random, bits);
      member.is_base = below(random, 6) == 0;
      member.is_virtual = below(random, 20) == 0;
      member.is_static = below(random, 10) == 0;
      member.has_value = below(random, 2) == 0;
      type.members.push_back(member);
    }
    if (below(random, 3) != 0) make_plausible(random, type);
    for (std::uint32_t e = below(random, 4); e > 0; --e)
      type.enumerators.push_back({"e" + std::to_string(e), static_cast<int>(random())});
    symbols.add(type);
  }
}

Location random_location(Random& random, std::size_t registers) {
  const auto reg = static_cast<ptx::RegId>(below(random, static_cast<std::uint32_t>(registers)));
  debuginfo::Pieces pieces;
  const std::uint64_t sizes[] = {0, 1, 4, 8, 1ull << 40};
  pieces.pieces = {{debuginfo::InRegister{reg}, one_of(random, sizes)},
                   {debuginfo::AtAddress{below(random, 5000), StateSpace::shared}, one_of(random, sizes)},
                   {debuginfo::NoValue{""}, one_of(random, sizes)},
                   {debuginfo::ConstantValue{{1, 2}}, one_of(random, sizes)}};
  const Location locations[] = {debuginfo::NoValue{"gone"},
                                debuginfo::InRegister{reg},
                                debuginfo::InVariable{StateSpace::local, ptx::Scope::function, below(random, 3), 8},
                                debuginfo::AtRegister{reg, 16, StateSpace::generic, below(random, 2) == 0},
                                debuginfo::AtAddress{TestLane::kGlobal + below(random, 70000), StateSpace::global},
                                debuginfo::AtAddress{TestLane::kGlobal, StateSpace::generic},
                                debuginfo::AtAddress{below(random, 4096), StateSpace::shared},
                                debuginfo::ConstantValue{{1, 2, 3}},
                                pieces};
  return one_of(random, locations);
}

// An expression by the grammar, of any sense.
std::string sentence(Random& random, std::uint32_t depth) {
  const char* leaves[] = {"a", "b", "c", "d",    "a",   "b",     "c",           "d",
                          "x", "1", "3", "2.5f", "%r0", "$lane", "threadIdx.x", "-1"};
  if (depth == 0) return one_of(random, leaves);
  const auto inner = [&] { return "(" + sentence(random, depth - 1) + ")"; };
  const char* signs[] = {
      "+", "-", "*", "/", "%", "<<", ">>", "<", "==", "&&", "||", "&", "|", "^", "=", "+=", ",", "@"};
  const char* prefixes[] = {"*",     "&",    "-",      "!",      "~",        "sizeof",
                            "(int)", "(T1)", "(T2 *)", "(half)", "*(int *)", "*(T3 *)&"};
  const char* suffixes[] = {".x", "->next", ".y", "[0]", "[1]", "[2]", "@4", ".x.x"};
  switch (below(random, 5)) {
    case 0:
      return inner() + one_of(random, signs) + inner();
    case 1:
      return one_of(random, prefixes) + inner();
    case 2:
      return inner() + "[" + inner() + "]";
    case 3:
      return inner() + "?" + inner() + ":" + inner();
    default:
      return inner() + one_of(random, suffixes);
  }
}

// Words that belong to expressions, in any order, or any bytes.
std::string random_text(Random& random) {
  static const char* const words[] = {"a",   "b",   "c",          "d",     "this",      "x",      "y",     "next",
                                      "1",   "0",   "0x10",       "2.5f",  "'c'",       "'a.cu'", "T0",    "T1",
                                      "T3",  "int", "float",      "half",  "unsigned",  "sizeof", "true",  "(",
                                      ")",   "[",   "]",          ".",     "->",        "*",      "&",     "+",
                                      "-",   "/",   "%",          "<<",    ">>",        "<",      "==",    "&&",
                                      "||",  "?",   ":",          "::",    "=",         "+=",     "@",     ",",
                                      "~",   "!",   "%r0",        "$lane", "threadIdx", "(T2)",   "(T4*)", "[0]",
                                      "[1]", ".x",  "1000000000", "@3",    ">",         "(*)",    " "};
  if (below(random, 8) == 0) {
    std::string text;
    for (std::uint32_t n = below(random, 40); n > 0; --n) text += static_cast<char>(random());
    return text;
  }
  if (below(random, 8) != 0) return sentence(random, below(random, 4));
  std::string text;
  for (std::uint32_t n = 1 + below(random, 14); n > 0; --n) text += one_of(random, words);
  return text;
}

void show(Random& random, Scene& s, const std::string& text, const debugger::Value& value) {
  debugger::TextOptions options;
  options.format =
      static_cast<debugger::Format>(below(random, static_cast<std::uint32_t>(debugger::Format::string) + 1));
  EXPECT_LE(debugger::text_of(s.context, value, options).size(), 400'000u) << text;
  for (const debugger::Child& child : debugger::children(s.context, value, text, below(random, 3), 5)) {
    if (!child.error.empty()) continue;
    EXPECT_LE(debugger::text_of(s.context, child.value, options).size(), 400'000u) << text;
    debugger::child_count(s.types, child.value);
  }
}

TEST(DebuggerRandom, TextsAndTypes) {
  std::size_t values = 0, refused = 0;
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    Scene s;
    add_random_types(random, s.symbols);
    const auto last = static_cast<TypeId>(s.symbols.types.size());
    for (int r = 0; r < 3; ++r) s.reg("%r0", ptx::ScalarType::b64, TestLane::kGlobal + below(random, 1000) * 8);
    for (std::uint64_t i = 0; i + 8 <= s.lane.global.size(); i += 8)  // pointers to each other
      s.lane.put({StateSpace::generic, TestLane::kGlobal + i}, TestLane::kGlobal + below(random, 8000) * 8);
    s.lane.variables[0] = 64;
    for (const char* name : {"a", "b", "c", "d", "this"})
      s.symbols.local(name, below(random, last), random_location(random, 3));
    for (int n = 0; n < 50; ++n) {
      const std::string text = random_text(random);
      const Result<debugger::Value> value = s.try_value(text, true);
      ++(value.ok() ? values : refused);
      if (value.ok()) {
        EXPECT_LE(value->bytes.size(), debugger::kLoadedBytes) << text;
        show(random, s, text, *value);
      } else {
        EXPECT_FALSE(value.error().message.empty()) << text;
      }
    }
    const auto tile = debugger::read_tile(
        s.context, {{StateSpace::shared, 0}, below(random, 9), below(random, 9), 0, below(random, last)});
    if (tile.ok()) EXPECT_FALSE(debugger::tile_text(*tile).empty());
  }
  EXPECT_GT(values, 2000u);
  EXPECT_GT(refused, 2000u);
}

}  // namespace
