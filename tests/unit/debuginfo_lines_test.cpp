// Lines, inlined frames and places of breakpoints. Expectations are read off tests/debuginfo/inlined.cu.
#include "debuginfo/readable_names.h"
#include "debuginfo_fixture.h"

namespace {

using namespace warpgrind;
using namespace warpgrind::debuginfo;

const std::string kInlined = "inlined.cu";

std::uint32_t inlined_line(const char* text) {
  return line_of(kInlined, text);
}

class DebugLines : public ::testing::TestWithParam<const char*> {
 protected:
  DebugInfo info{debuginfo_module(GetParam())};
};

// What holds for any compiler and level of optimisation.
TEST_P(DebugLines, LineOfAnInlinedFunctionIsFoundInEachCopy) {
  const std::uint32_t product = inlined_line("T y = x * x;");
  const std::vector<StopPlace> places = info.find_line(kInlined, product);
  std::string firsts;
  for (const StopPlace& p : places) {
    if (!p.is_first) continue;
    EXPECT_EQ(p.place.line, product);
    EXPECT_EQ(p.place.file, "/tmp/debuginfo/inlined.cu");
    firsts += frames_text(info, p.code) + '\n';
  }
  EXPECT_EQ(firsts,
            fmt::format("num::square<float>:{} num::cube<float>:{} inlined:{}\nnum::square<int>:{} inlined:{}\n",
                        product, inlined_line("T s = square(x);"), inlined_line("sum += num::cube"), product,
                        inlined_line("out[i] =")));
}

TEST_P(DebugLines, FunctionsAreFoundByEachFormOfTheirNames) {
  EXPECT_EQ(info.find_function("square").size(), 2u);
  EXPECT_EQ(info.find_function("num::square").size(), 2u);
  EXPECT_EQ(info.find_function("square<float>").size(), 1u);
  EXPECT_EQ(info.find_function("num::square<int>(int)").size(), 1u);
  EXPECT_EQ(info.find_function("_ZN3num6squareIiEET_S1_").size(), 1u);
  EXPECT_EQ(info.find_function("cube").size(), 1u);
  EXPECT_TRUE(info.find_function("::square").empty());
  EXPECT_TRUE(info.find_function("square<double>").empty());
  EXPECT_TRUE(info.find_function("uare").empty());
  EXPECT_TRUE(info.find_function("other::square").empty());
  EXPECT_TRUE(info.find_function("square(float, float)").empty());
}

TEST_P(DebugLines, KernelBeginsBehindItsPrologue) {
  const std::vector<StopPlace> places = info.find_function("inlined");
  ASSERT_EQ(places.size(), 1u);
  // An optimiser may begin with another statement.
  EXPECT_GE(places[0].place.line, inlined_line("int i = threadIdx.x;"));
  if (std::string(GetParam()) != "inlined_warpgrind.ptx") {
    EXPECT_EQ(places[0].place.line, inlined_line("int i = threadIdx.x;"));
  }
  const ptx::Function& kernel = info.module().functions[places[0].code.function];
  EXPECT_EQ(kernel.name, "_Z7inlinedPKfPfi");
  // Parameters are loaded before it.
  for (std::uint32_t i = 0; i < places[0].code.instruction; ++i)
    EXPECT_NE(info.place({places[0].code.function, i}).line, inlined_line("out[i] ="));
  // A breakpoint on the line of the head is there, too.
  const std::vector<StopPlace> head = info.find_line(kInlined, inlined_line("__global__"));
  ASSERT_EQ(head.size(), 1u);
  EXPECT_EQ(head[0].code, places[0].code);
}

TEST_P(DebugLines, FilesMatchByWholeComponents) {
  const std::uint32_t line = inlined_line("out[i] =");
  const std::size_t count = info.find_line("inlined.cu", line).size();
  EXPECT_GE(count, 1u);
  EXPECT_EQ(info.find_line("debuginfo/inlined.cu", line).size(), count);
  EXPECT_EQ(info.find_line("/tmp/debuginfo/inlined.cu", line).size(), count);
  EXPECT_EQ(info.find_line("/tmp/x/../debuginfo/./inlined.cu", line).size(), count);
  EXPECT_TRUE(info.find_line("lined.cu", line).empty());
  EXPECT_TRUE(info.find_line("/debuginfo/inlined.cu", line).empty());
  EXPECT_TRUE(info.find_line("other.cu", line).empty());
  EXPECT_TRUE(info.find_line("inlined.cu", 1000).empty());
}

TEST_P(DebugLines, EachLineBreaksOnceInAFunction) {
  std::size_t firsts = 0;
  for (const StopPlace& p : info.find_line(kInlined, inlined_line("for (int j"))) firsts += p.is_first;
  EXPECT_EQ(firsts, 1u);
}

INSTANTIATE_TEST_SUITE_P(Compilers, DebugLines,
                         ::testing::Values("inlined_nvcc.ptx", "inlined_lineinfo.ptx", "inlined_warpgrind.ptx"));

TEST(DebugLinesOfNvcc, LineWithoutCodeMovesToTheNextOfItsFunction) {
  const DebugInfo full(debuginfo_module("inlined_nvcc.ptx"));
  const std::uint32_t comment = inlined_line("// no code here");
  ASSERT_EQ(full.find_line(kInlined, comment).size(), 1u);
  EXPECT_EQ(full.find_line(kInlined, comment)[0].place.line, inlined_line("float sum = 0;"));
  // ptxas's input of -lineinfo has no instruction for `float sum = 0`.
  const DebugInfo lines(debuginfo_module("inlined_lineinfo.ptx"));
  ASSERT_FALSE(lines.find_line(kInlined, comment).empty());
  EXPECT_EQ(lines.find_line(kInlined, comment)[0].place.line, inlined_line("for (int j"));
}

// nvcc gives the arguments of such a call the line before, and the jump into it a line of the function that is called.
TEST(DebugLinesOfNvcc, BreakpointOnACallThatWasInlinedIsBeforeIt) {
  const DebugInfo info(debuginfo_module("inlined_nvcc.ptx"));
  for (const auto& [call, callee] : {std::pair{"sum += num::cube", "num::cube"}, {"out[i] =", "num::square<int>"}}) {
    const std::vector<StopPlace> places = info.find_line(kInlined, inlined_line(call));
    ASSERT_FALSE(places.empty());
    EXPECT_TRUE(places[0].is_first);
    EXPECT_EQ(std::count_if(places.begin(), places.end(), [](const StopPlace& p) { return p.is_first; }), 1);
    EXPECT_EQ(frames_text(info, places[0].code), fmt::format("inlined:{}", inlined_line(call)));
    for (const StopPlace& inner : info.find_function(callee)) EXPECT_LT(places[0].code, inner.code);
  }
}

TEST(DebugLinesOfNvcc, CountersOfLoopsArePiecesOfTheirLine) {
  const DebugInfo info(debuginfo_module("inlined_nvcc.ptx"));
  const std::vector<StopPlace> places = info.find_line(kInlined, inlined_line("for (int j"));
  // `int j = 0; j < n` in one piece, `++j` in another.
  ASSERT_EQ(places.size(), 2u);
  EXPECT_TRUE(places[0].is_first);
  EXPECT_FALSE(places[1].is_first);
  EXPECT_LT(places[0].code.instruction, places[1].code.instruction);
}

TEST(DebugLinesOfNvcc, DetailSaysWhatTheCompilerLeft) {
  const DebugInfo full(debuginfo_module("inlined_nvcc.ptx")), lines(debuginfo_module("inlined_lineinfo.ptx"));
  EXPECT_EQ(full.detail(0), Detail::variables);
  EXPECT_EQ(full.why_no_variables(0), "");
  EXPECT_EQ(lines.detail(0), Detail::lines);
  EXPECT_NE(lines.why_no_variables(0).find("-G"), std::string::npos);
  auto plain = ptx::parse(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n", "plain");
  ASSERT_TRUE(plain);
  const DebugInfo nothing(*plain);
  EXPECT_EQ(nothing.detail(0), Detail::nothing);
  EXPECT_EQ(nothing.frames({0, 0}).size(), 1u);
  EXPECT_EQ(nothing.place({0, 0}).line, 0u);
  EXPECT_EQ(nothing.find_function("k").size(), 1u);
}

TEST(DebugLinesOfNvcc, InlinedCallsAreScopesWithoutDwarfToo) {
  const DebugInfo info(debuginfo_module("inlined_lineinfo.ptx"));
  const Scope& kernel = info.function(0);
  ASSERT_EQ(kernel.inner.size(), 2u);
  const Scope &cube = kernel.inner[0], &square = kernel.inner[1];
  EXPECT_EQ(cube.name, "num::cube<float>");
  EXPECT_EQ(cube.called.line, inlined_line("sum += num::cube"));
  EXPECT_GE(cube.code.size(), 2u);  // the loop is unrolled
  ASSERT_EQ(cube.inner.size(), 1u);
  EXPECT_EQ(cube.inner[0].name, "num::square<float>");
  EXPECT_EQ(cube.inner[0].called.line, inlined_line("T s = square(x);"));
  EXPECT_EQ(square.name, "num::square<int>");
  EXPECT_EQ(square.called.line, inlined_line("out[i] ="));
  EXPECT_TRUE(cube.variables.empty());
  for (const CodeRange& r : square.code) EXPECT_EQ(info.frames({0, r.begin}).size(), 2u);
}

TEST(DebugNames, AreSplitAndMatchedAsGdbDoes) {
  struct Case {
    const char* query;
    const char* linkage_name;
    bool matches;
  };
  const Case cases[] = {
      {"scale", "_Z5scaleIfET_S0_S0_", true},                        // float scale<float>(float, float)
      {"scale<float>(float,float)", "_Z5scaleIfET_S0_S0_", true},    //
      {"scale(float, float)", "_Z5scaleIfET_S0_S0_", true},          //
      {"scale(float)", "_Z5scaleIfET_S0_S0_", false},                //
      {"at", "_ZNK3geo3VecIfLi4EE2atEi", true},                      // geo::Vec<float, 4>::at(int) const
      {"Vec::at", "_ZNK3geo3VecIfLi4EE2atEi", true},                 //
      {"geo::Vec<float, 4>::at", "_ZNK3geo3VecIfLi4EE2atEi", true},  //
      {"geo::Vec<float, 5>::at", "_ZNK3geo3VecIfLi4EE2atEi", false},
      {"geo::at", "_ZNK3geo3VecIfLi4EE2atEi", false},
      {"operator()", "_ZNK6ScalerclEf", true},  // Scaler::operator()(float) const
      {"Scaler::operator()(float)", "_ZNK6ScalerclEf", false},
      {"Scaler::operator()(float) const", "_ZNK6ScalerclEf", true},
      {"operator<", "_ZltRK1AS1_", true},    // operator<(A const&, A const&)
      {"operator<<", "_ZltRK1AS1_", false},  //
      {"operator float", "_ZNK6__halfcvfEv", true},
      {"f", "_ZN12_GLOBAL__N_11fEv", true},  // (anonymous namespace)::f()
      {"(anonymous namespace)::f", "_ZN12_GLOBAL__N_11fEv", true},
      {"atomicAdd", "_ZN34_INTERNAL_c6cc7ff4_4_a_cu_73f105649atomicAddEPii", true},
      {"::atomicAdd", "_ZN34_INTERNAL_c6cc7ff4_4_a_cu_73f105649atomicAddEPii", true},
      {"scale", "_ZN8__main__5scaleB2v1B3abcEx", true},  // __main__::scale[abi:v1][abi:abc](long long), of Numba
      {"__main__::scale", "_ZN8__main__5scaleB2v1B3abcEx", true},
      {"scale[abi:v1][abi:abc]", "_ZN8__main__5scaleB2v1B3abcEx", true},
      {"scale[abi:v2]", "_ZN8__main__5scaleB2v1B3abcEx", false},
      {"kernel", "kernel", true},
      {"kern", "kernel", false},
      {"", "kernel", false},
      // cub hides its version in a namespace.
      {"cub::ThreadLoad", "_ZN3cub17CUB_300001_SM_90010ThreadLoadEv", true},
  };
  for (const Case& c : cases) EXPECT_EQ(name_matches(c.query, std::string(c.linkage_name)), c.matches) << c.query;
}

}  // namespace
