// Types. Expectations are read off tests/debuginfo/shapes.cu and the C++ ABI.
#include "debuginfo_fixture.h"

namespace {

using namespace warpgrind;
using namespace warpgrind::debuginfo;

class DebugTypes : public ::testing::TestWithParam<const char*> {
 protected:
  DebugInfo info{debuginfo_module(GetParam())};

  // Type of a variable of the kernel.
  TypeId type_of(const std::string& name) {
    const std::vector<StopPlace> places = info.find_line("shapes.cu", line_of("shapes.cu", "if (inside)"));
    EXPECT_FALSE(places.empty());
    for (const VisibleVariable& v : info.variables(places.at(0).code))
      if (v.variable->name == name) return v.variable->type;
    ADD_FAILURE() << name << " is not in scope";
    return kVoidType;
  }
  const Type& stripped(const std::string& name) { return info.type(info.strip(type_of(name))); }
};

TEST_P(DebugTypes, StructureHasItsMembersAtTheirPlaces) {
  const Type& vec = stripped("local");
  EXPECT_EQ(vec.kind, TypeKind::structure);
  EXPECT_EQ(vec.size, 32u);
  std::string members;
  for (const Member& m : vec.members) {
    if (m.is_static) continue;
    members += fmt::format("{}{} at {}", m.is_base ? "base " : "", m.is_base ? "Base" : m.name, m.offset);
    if (m.bit_size != 0) members += fmt::format(" bits {}+{}", m.bit_offset, m.bit_size);
    members += fmt::format(" size {}\n", info.type(m.type).size);
    if (m.is_base) EXPECT_NE(m.name.find("Base"), std::string::npos);
  }
  // id 0-7, v 8-19, colour 20; low, high and negative are bits 8-10, 11-23 and 24-30 of the word at 20.
  EXPECT_EQ(members,
            "base Base at 0 size 8\n"
            "v at 8 size 12\n"
            "colour at 20 size 1\n"
            "low at 21 bits 0+3 size 4\n"
            "high at 21 bits 3+13 size 4\n"
            "negative at 23 bits 0+7 size 4\n"
            "next at 24 size 8\n");
}

TEST_P(DebugTypes, StructureCanPointToItself) {
  const Type& vec = stripped("local");
  const auto next =
      std::find_if(vec.members.begin(), vec.members.end(), [](const Member& m) { return m.name == "next"; });
  ASSERT_NE(next, vec.members.end());
  const Type& pointer = info.type(next->type);
  EXPECT_EQ(pointer.kind, TypeKind::pointer);
  EXPECT_EQ(&info.type(pointer.target), &vec);
}

TEST_P(DebugTypes, EnumerationsHaveTheirValues) {
  const auto text = [](const Type& t) {
    std::string out;
    for (const Enumerator& e : t.enumerators) out += fmt::format("{}={} ", e.name, e.value);
    return out;
  };
  const Type& sign = stripped("sign");
  EXPECT_EQ(sign.kind, TypeKind::enumeration);
  EXPECT_EQ(sign.name, "geo::Sign");
  EXPECT_EQ(sign.size, 4u);
  EXPECT_EQ(text(sign), "minus=-1 zero=0 plus=1 ");
  const TypeId colour = info.find_type("geo::Colour");
  ASSERT_NE(colour, kVoidType);
  EXPECT_EQ(info.type(colour).size, 1u);
  EXPECT_EQ(text(info.type(colour)), "red=0 green=5 blue=6 ");
}

TEST_P(DebugTypes, ArraysHaveTheirDimensions) {
  const Type& tile = stripped("tile");
  EXPECT_EQ(tile.kind, TypeKind::array);
  EXPECT_EQ(tile.dimensions, (std::vector<std::uint64_t>{4, 8}));
  EXPECT_EQ(tile.size, 4u * 8 * 4);
  EXPECT_EQ(info.type(tile.target).format, NumberFormat::floating);
  const Type& word = info.type(stripped("words").target);
  EXPECT_EQ(word.kind, TypeKind::union_type);
  EXPECT_EQ(word.size, 4u);
  EXPECT_EQ(word.members.size(), 3u);
}

TEST_P(DebugTypes, NarrowNumbersAreRecognised) {
  EXPECT_EQ(stripped("h").format, NumberFormat::half);
  EXPECT_EQ(stripped("h").size, 2u);
  EXPECT_EQ(stripped("quad").format, NumberFormat::fp8_e4m3);
  EXPECT_EQ(stripped("quad").components, 4u);
  EXPECT_EQ(stripped("quad").size, 4u);
  EXPECT_EQ(stripped("local").format, NumberFormat::none);
}

TEST_P(DebugTypes, NamesAreThoseOfTheSource) {
  EXPECT_EQ(info.type_name(type_of("in")), "const Vec3 *");
  EXPECT_EQ(info.type_name(type_of("table")), "volatile int **");
  EXPECT_EQ(info.type_name(type_of("tile")), "float[4][8]");
  EXPECT_EQ(info.type_name(type_of("inside")), "const bool");
  EXPECT_EQ(info.type_name(kVoidType), "void");
  EXPECT_EQ(stripped("inside").format, NumberFormat::boolean);
  EXPECT_EQ(stripped("i").format, NumberFormat::signed_integer);
  EXPECT_EQ(stripped("in").kind, TypeKind::pointer);
  EXPECT_EQ(stripped("in").size, 8u);
  EXPECT_EQ(info.find_type("no_such_type"), kVoidType);
  const Scope& sum = info.function(function_of(info, "sum"));
  EXPECT_EQ(info.type_name(sum.variables.at(0).type), "const Vec3 &");
  EXPECT_EQ(info.type_name(sum.result), "float");
}

INSTANTIATE_TEST_SUITE_P(Compilers, DebugTypes, ::testing::Values("shapes_nvcc.ptx", "shapes_clang.ptx"));

TEST(DebugTypesOfClang, StaticMembersAreMarked) {
  const DebugInfo info(debuginfo_module("shapes_clang.ptx"));
  const Type& vec = info.type(info.strip(info.find_type("Vec3")));
  std::size_t statics = 0;
  for (const Member& m : vec.members) statics += m.is_static && m.name == "count";
  EXPECT_EQ(statics, 1u);
}

}  // namespace
