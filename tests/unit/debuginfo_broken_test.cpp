// Broken DWARF: problems are reported, lines still work, and nothing crashes.
#include <random>

#include "debuginfo_fixture.h"

namespace {

using namespace warpgrind;
using namespace warpgrind::debuginfo;

// Asks for everything.
void read_all(const DebugInfo& info) {
  std::size_t sizes = 0;
  const auto read_type = [&](TypeId id) {
    const Type& t = info.type(id);
    sizes += info.type_name(id).size() + t.size + info.type(info.strip(id)).members.size();
    for (const Member& m : t.members) sizes += info.type_name(m.type).size();
  };
  for (std::uint32_t f = 0; f < info.module().functions.size(); ++f) {
    const ptx::Function& function = info.module().functions[f];
    if (!function.has_body) continue;
    sizes += info.function(f).inner.size();
    for (std::uint32_t i = 0; i < function.body.size(); ++i) {
      sizes += frames_text(info, {f, i}).size();
      for (std::uint32_t frame = 0; frame < info.frames({f, i}).size(); ++frame) {
        for (const VisibleVariable& v : info.variables({f, i}, frame)) {
          read_type(v.variable->type);
          sizes += location_text(v.location, info.module(), f).size();
        }
      }
    }
  }
  for (const Variable& v : info.globals()) read_type(v.type);
  sizes += info.find_line("shapes.cu", 66).size() + info.find_line("shapes.cu", 65).size();
  sizes += info.find_function("sum").size() + info.find_type("Vec3");
  EXPECT_GT(sizes, 0u);
}

// The text with one line of a section, found by its start and a text in it, replaced.
std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from, text.find(".debug_info"));
  EXPECT_NE(at, std::string::npos) << from;
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

std::shared_ptr<ptx::Module> parsed(const std::string& text) {
  auto module = ptx::parse(text, "broken");
  EXPECT_TRUE(module) << module.error().detail;
  return module ? *module : nullptr;
}

void expect_problem(const std::string& text, const std::string& words) {
  const std::shared_ptr<ptx::Module> module = parsed(text);
  ASSERT_TRUE(module);
  const DebugInfo info(module);
  read_all(info);
  std::string all;
  for (const std::string& p : info.problems()) all += p + '\n';
  EXPECT_NE(all.find(words), std::string::npos) << words << " is not in:\n" << all;
  EXPECT_FALSE(info.find_line("shapes.cu", line_of("shapes.cu", "if (inside)")).empty());
}

const std::string kGood = debuginfo_file("shapes_nvcc.ptx");

// A small unit whose only type is entry 0x17 (23). Its abbreviations: 1 unit, 2 typedef with type, 3 variable.
std::string small_unit(const std::string& entries, unsigned length) {
  return fmt::format(R"(.version 8.0
.target sm_90, debug
.address_size 64
.global .align 4 .u32 x;
.file 1 "shapes.cu"
.visible .entry k() {{ .loc 1 {} 0
ret; }}
.section .debug_abbrev {{
.b8 1,17,1,0,0
.b8 2,22,0,73,19,0,0
.b8 3,52,0,3,8,73,19,2,10,0,0
.b8 0
}}
.section .debug_info {{
.b32 {}
.b8 2,0
.b32 .debug_abbrev
.b8 8
{}
}}
)",
                     line_of("shapes.cu", "if (inside)"), length, entries);
}

TEST(DebugBroken, TypeThatRefersToItselfIsAProblem) {
  // Offsets: unit header 11 bytes, unit entry 1, typedef at 12 refers to itself.
  expect_problem(small_unit(".b8 1\n.b8 2\n.b32 12\n.b8 3,120,0\n.b32 12\n.b8 9,3\n.b64 x\n.b8 0", 31), "in a circle");
}

TEST(DebugBroken, TwoTypesInACircleAreAProblem) {
  expect_problem(small_unit(".b8 1\n.b8 2\n.b32 17\n.b8 2\n.b32 12\n.b8 3,120,0\n.b32 12\n.b8 9,3\n.b64 x\n.b8 0", 36),
                 "in a circle");
}

TEST(DebugBroken, SmallUnitIsReadWhenItIsRight) {
  const DebugInfo info(parsed(small_unit(".b8 1\n.b8 3,120,0\n.b32 0\n.b8 9,3\n.b64 x\n.b8 0", 26)));
  ASSERT_EQ(info.globals().size(), 1u);
  EXPECT_EQ(info.globals()[0].name, "x");
  EXPECT_EQ(location_text(info.globals()[0].location, info.module(), 0), "global x+0");
  EXPECT_TRUE(info.problems().empty());
}

TEST(DebugBroken, WildOffsetsAreNoTypes) {
  const DebugInfo info(parsed(small_unit(".b8 1\n.b8 3,120,0\n.b32 4000000000\n.b8 9,3\n.b64 x\n.b8 0", 26)));
  ASSERT_EQ(info.globals().size(), 1u);
  EXPECT_EQ(info.globals()[0].type, kVoidType);
}

TEST(DebugBroken, LengthsAndCodesAreChecked) {
  expect_problem(small_unit(".b8 1\n.b8 9", 9), "unknown abbreviation");
  expect_problem(small_unit(".b8 1\n.b8 3,120,0", 4000), "longer than its section");
  expect_problem(small_unit(".b8 1\n.b8 3,120", 10), "truncated");
  expect_problem(replaced(small_unit(".b8 1\n.b8 0", 9), ".b8 2,0", ".b8 9,0"), "version 9");
  expect_problem(replaced(small_unit(".b8 1\n.b8 0", 9), ".b32 .debug_abbrev", ".b32 7777"), "abbreviations");
  expect_problem(replaced(small_unit(".b8 1\n.b8 0", 9), ".b8 2,0", ".b8 2,0 oops"), "not data");
}

TEST(DebugBroken, CodeOfAnotherFunctionIsAProblem) {
  expect_problem(replaced(kGood, ".b64 $L__func_end2", ".b64 $L__func_end3"), "no label of the same function");
}

// Random changes of numbers, deleted lines and truncated sections.
TEST(DebugBroken, RandomChangesNeverCrash) {
  std::mt19937 random(20);
  const auto below = [&random](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  for (const char* file : {"shapes_nvcc.ptx", "inlined_nvcc.ptx"}) {
    const std::string good = debuginfo_file(file);
    const std::size_t start = good.find("{", good.find(".section"));
    for (int round = 0; round < 120; ++round) {
      std::string text = good;
      for (std::size_t changes = 1 + below(6); changes-- > 0;) {
        const std::size_t line = text.find("\n.b", start + below(text.size() - start - 100));
        if (line == std::string::npos) continue;
        const std::size_t end = text.find('\n', line + 1);
        const std::size_t blank = text.find(' ', line);
        switch (below(4)) {
          case 0:
            text.erase(line, end - line);
            break;
          case 1:
            text.insert(line, fmt::format("\n.b8 {}", below(256)));
            break;
          default:
            text.replace(blank + 1, end - blank - 1, std::to_string(below(below(2) == 0 ? 256 : 70000)));
            break;
        }
      }
      if (below(8) == 0) {  // the rest of a section is gone
        const std::size_t from = text.find("\n.b", start + below(text.size() - start - 100));
        const std::size_t to = text.find("\n\t}", from);
        if (from != std::string::npos && to != std::string::npos) text.erase(from, to - from);
      }
      auto module = ptx::parse(text, file);
      if (!module) continue;
      const DebugInfo info(*module);
      read_all(info);
    }
  }
}

}  // namespace
