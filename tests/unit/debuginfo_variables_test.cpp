// Variables in scope and their places. Expectations are read off tests/debuginfo/shapes.cu and the PTX beside it.
#include <algorithm>

#include "debuginfo_fixture.h"
#include "ptx/linker.h"

namespace {

using namespace warpgrind;
using namespace warpgrind::debuginfo;

const std::string kShapes = "shapes.cu";

std::uint32_t shapes_line(const char* text) {
  return line_of(kShapes, text);
}

// The first place of a line.
CodePlace at_line(const DebugInfo& info, const char* text) {
  const std::vector<StopPlace> places = info.find_line(kShapes, shapes_line(text));
  EXPECT_FALSE(places.empty()) << text;
  return places.empty() ? CodePlace{0, 0} : places[0].code;
}

std::string visible(const DebugInfo& info, CodePlace code, const std::string& name) {
  for (const VisibleVariable& v : info.variables(code))
    if (v.variable->name == name && !v.is_hidden)
      return fmt::format("{} at {} line {}", info.type_name(v.variable->type),
                         location_text(v.location, info.module(), code.function), v.variable->declared.line);
  return "not in scope";
}

std::string global(const DebugInfo& info, const std::string& name) {
  for (const Variable& v : info.globals())
    if (v.name == name)
      return fmt::format("{} at {} line {}", info.type_name(v.type), location_text(v.location, info.module(), 0),
                         v.declared.line);
  return "none";
}

TEST(DebugVariables, OfAnUnoptimisedKernelOfNvccAreInRegistersDepotSharedMemoryAndParameters) {
  const DebugInfo info(debuginfo_module("shapes_nvcc.ptx"));
  const std::string kernel = "_Z6shapesPKN3geo3VecIfLi3EEEPfiNS_4WordEPPVi";
  const std::uint32_t head = shapes_line("__global__ void shapes(");
  const CodePlace code = at_line(info, "if (inside)");
  EXPECT_EQ(visible(info, code, "in"), fmt::format("const Vec3 * at param {}_param_0+0 line {}", kernel, head));
  EXPECT_EQ(visible(info, code, "n"), fmt::format("int at param {}_param_2+0 line {}", kernel, head));
  // The depot's places are those of `st ... [%SP+n]`: the parameter by value first, then `local`, `h`, `quad`.
  EXPECT_EQ(visible(info, code, "word"), fmt::format("Word at local __local_depot3+0 line {}", head));
  EXPECT_EQ(visible(info, code, "local"),
            fmt::format("Vec3 at local __local_depot3+8 line {}", shapes_line("Vec3 local")));
  EXPECT_EQ(visible(info, code, "i"), fmt::format("int at reg %r1 line {}", shapes_line("int i = lane()")));
  EXPECT_EQ(visible(info, code, "tile"),
            fmt::format("float[4][8] at shared _ZZ6shapesPKN3geo3VecIfLi3EEEPfiNS_4WordEPPViE4tile+0 line {}",
                        shapes_line("float tile[4][8]")));
  EXPECT_EQ(visible(info, code, "total"), "not in scope");
}

TEST(DebugVariables, OfClangAreInTheDepot) {
  const DebugInfo info(debuginfo_module("shapes_clang.ptx"));
  const CodePlace code = at_line(info, "if (inside)");
  for (const char* name : {"in", "out", "n", "table", "i", "local", "h", "quad", "sign", "inside"})
    EXPECT_NE(visible(info, code, name).find(" at local __local_depot"), std::string::npos) << name;
  EXPECT_NE(visible(info, code, "words").find("geo::Word[2] at shared"), std::string::npos);
}

TEST(DebugVariables, InnerOnesHideOuterOnes) {
  for (const char* file : {"shapes_nvcc.ptx", "shapes_clang.ptx"}) {
    const DebugInfo info(debuginfo_module(file));
    std::vector<std::string> seen;
    for (const VisibleVariable& v : info.variables(at_line(info, "local.v[1] =")))
      if (v.variable->name == "n")
        seen.push_back(fmt::format("{}{}", info.type_name(v.variable->type), v.is_hidden ? " hidden" : ""));
    EXPECT_EQ(seen, (std::vector<std::string>{"double", "float hidden", "int hidden"})) << file;
    // Before the blocks begin, `n` is the parameter.
    EXPECT_EQ(visible(info, at_line(info, "if (inside)"), "n").substr(0, 7), "int at ") << file;
  }
}

TEST(DebugVariables, OfALoopMoveFromRegisterToRegister) {
  const DebugInfo info(debuginfo_module("shapes_nvcc.ptx"));
  const std::uint32_t f = function_of(info, "sum");
  const ptx::Function& function = info.module().functions[f];
  const CodePlace code = at_line(info, "total += part * scale");
  ASSERT_EQ(code.function, f);
  // The register of `total` is the one to which the line adds: its `add.f32 new, total, product`.
  std::uint32_t add = code.instruction;
  while (add < function.body.size() && function.body[add].opcode != ptx::Opcode::add) ++add;
  ASSERT_LT(add, function.body.size());
  const ptx::Operand& total = function.body[add].operands[1];
  EXPECT_EQ(visible(info, code, "total"), fmt::format("float at reg {} line {}", function.registers[total.index].name,
                                                      shapes_line("float total = 0")));
  // In the prologue it has no value, and the reason is not that it is optimised away.
  const Scope& block = info.function(f).inner.at(0);
  const auto variable =
      std::find_if(block.variables.begin(), block.variables.end(), [](const Variable& v) { return v.name == "total"; });
  ASSERT_NE(variable, block.variables.end());
  EXPECT_GE(variable->ranges.size(), 2u);
  const Location early = location_at(*variable, 0);
  ASSERT_TRUE(std::holds_alternative<NoValue>(early));
  EXPECT_EQ(std::get<NoValue>(early).why.find("optimised away"), std::string::npos);
}

TEST(DebugVariables, OfInlinedFramesAreTheirs) {
  const DebugInfo info(debuginfo_module("inlined_nvcc.ptx"));
  const std::vector<StopPlace> places = info.find_function("square<float>");
  ASSERT_EQ(places.size(), 1u);
  const auto names = [&](std::uint32_t frame) {
    std::string out;
    for (const VisibleVariable& v : info.variables(places[0].code, frame)) out += v.variable->name + ' ';
    return out;
  };
  ASSERT_EQ(info.frames(places[0].code).size(), 3u);
  EXPECT_EQ(names(0), "y x ");
  EXPECT_EQ(names(1), "s x ");
  EXPECT_EQ(names(2), "j scaler i sum in out n ");
  EXPECT_EQ(names(3), "");
}

TEST(DebugVariables, GlobalsAreInTheirSpaces) {
  const DebugInfo nvcc(debuginfo_module("shapes_nvcc.ptx")), clang(debuginfo_module("shapes_clang.ptx"));
  for (const DebugInfo* info : {&nvcc, &clang}) {
    EXPECT_EQ(global(*info, "weights"),
              fmt::format("float[3][5] at const weights+0 line {}", shapes_line("weights[3][5]")));
    EXPECT_EQ(global(*info, "counter"), fmt::format("int at global counter+0 line {}", shapes_line("int counter;")));
    EXPECT_EQ(global(*info, "geo::inside"),
              fmt::format("short[2] at global _ZN3geo6insideE+0 line {}", shapes_line("short inside[2]")));
  }
  EXPECT_EQ(global(nvcc, "hidden"), fmt::format("double at global hidden+0 line {}", shapes_line("double hidden")));
  EXPECT_EQ(global(clang, "hidden"),
            fmt::format("double at global _ZL6hidden+0 line {}", shapes_line("double hidden")));
}

// Two modules in one: each finds its own labels, files and renamed internal variables.
TEST(DebugVariables, OfLinkedModulesAreThoseOfTheirModule) {
  std::string text = debuginfo_file("shapes_nvcc.ptx");
  // A second module with other names of what must be unique; `hidden` is internal and is in both.
  for (const auto& [from, to] : {std::pair<std::string, std::string>{"_Z6shapes", "_Z6others"},
                                 {"_ZZ6shapes", "_ZZ6others"},
                                 {"counter", "numbers"},
                                 {"weights", "lengths"},
                                 {"_ZN3geo6insideE", "_ZN3geo6outsidE"},
                                 {"_Z3sumRK", "_Z3mulRK"},
                                 {"_ZNK3geo3VecIfLi3EE2at", "_ZNK3geo3VecIfLi3EE2to"},
                                 {"/tmp/debuginfo/shapes.cu", "/tmp/debuginfo/others.cu"}})
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
  auto second = ptx::parse(text, "others");
  ASSERT_TRUE(second) << second.error().detail;
  auto linked = ptx::link({debuginfo_module("shapes_nvcc.ptx"), *second});
  ASSERT_TRUE(linked) << linked.error().message;
  const DebugInfo info(*linked);
  const std::uint32_t line = shapes_line("if (inside)");
  for (const char* file : {"shapes.cu", "others.cu"}) {
    const std::vector<StopPlace> places = info.find_line(file, line);
    ASSERT_EQ(places.size(), 1u) << file;
    EXPECT_NE(visible(info, places[0].code, "i").find("int at reg %r1"), std::string::npos);
    for (const VisibleVariable& v : info.variables(places[0].code))
      EXPECT_EQ(v.variable->declared.file, std::string("/tmp/debuginfo/") + file);
  }
  std::vector<std::string> hidden;
  for (const Variable& v : info.globals())
    if (v.name == "hidden") hidden.push_back(location_text(v.location, info.module(), 0));
  EXPECT_EQ(hidden, (std::vector<std::string>{"global hidden+0", "global hidden$module1+0"}));

  // As one text, from which the same modules come back.
  auto joined = ptx::split_texts(ptx::join_texts({debuginfo_module("shapes_nvcc.ptx"), *second}));
  ASSERT_EQ(joined.size(), 2u);
  EXPECT_TRUE(joined[1].ends_with((*second)->text.substr((*second)->text.find(".version"))));
  EXPECT_EQ(ptx::split_texts(text), std::vector<std::string>{text});
}

}  // namespace
