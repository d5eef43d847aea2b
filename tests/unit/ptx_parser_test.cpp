// Parts of the parser's result that its printed form does not show: indices, ranges, locations, limits.
#include <gtest/gtest.h>

#include <ctime>

#include "ptx/linker.h"
#include "ptx/parser.h"
#include "ptx/printer.h"

namespace warpgrind::ptx {
namespace {

const std::string kHead = ".version 9.0\n.target sm_90\n.address_size 64\n";

std::shared_ptr<Module> parsed(const std::string& text) {
  auto m = parse(kHead + text, "test.ptx");
  EXPECT_TRUE(m) << (m ? "" : m.error().detail);
  return m ? *m : std::make_shared<Module>();
}

std::string complaint(const std::string& text) {
  const auto m = parse(kHead + text, "test.ptx");
  EXPECT_FALSE(m);
  return m ? "" : m.error().detail;
}

const Function& only_function(const Module& m) {
  return m.functions.at(0);
}

TEST(PtxParser, SuffixesGoToTheirPlaces) {
  const auto m = parsed(
      ".entry k() {\n.reg .f32 %f<4>;\n.reg .b64 %rd1;\n ld.global.nc.L1::no_allocate.v4.f32 {%f0, %f1, _, %f3}, "
      "[%rd1+-16];\n"
      " st.shared::cta.f32 [%rd1], %f0;\n cp.async.cg.shared.global.L2::128B [%rd1], [%rd1], 16;\n}");
  const auto& body = only_function(*m).body;
  ASSERT_EQ(body.size(), 3u);
  EXPECT_EQ(body[0].opcode, Opcode::ld);
  EXPECT_EQ(body[0].space, StateSpace::global);
  EXPECT_EQ(body[0].vector, 4);
  EXPECT_EQ(body[0].types, std::vector{ScalarType::f32});
  EXPECT_TRUE(body[0].has(Modifier::nc));
  EXPECT_TRUE(body[0].has(Modifier::L1_no_allocate));
  EXPECT_EQ(body[0].operands[0].elements[2].kind, OperandKind::sink);
  EXPECT_EQ(body[0].operands[1].offset, -16);
  EXPECT_EQ(opcode_spelling(body[0]), "ld.global.nc.L1::no_allocate.v4.f32");
  EXPECT_EQ(body[1].space, StateSpace::shared);
  EXPECT_TRUE(body[1].has(Modifier::shared_cta));
  EXPECT_EQ(body[2].opcode, Opcode::cp_async);
  EXPECT_EQ(body[2].space, StateSpace::shared);
  EXPECT_TRUE(body[2].has(Modifier::global));
}

// As ptxas, and as CUTLASS' inline assembly has them.
TEST(PtxParser, BlanksMayStandBeforeSuffixes) {
  const auto m = parsed(
      ".entry k() {\n.reg .b32 %r<4>;\n.reg .b64 %rd1;\n.reg .pred %p;\n@%p lop3 .b32 %r0, %r1, %r2, %r3, 106;\n"
      "ld .global\n  .v2 /* two */ .u32 // of them\n {%r0, %r1}, [%rd1];\nmov .u32 %r0, %tid .x;\nadd.s32 .sat %r0, "
      "%r1, 1;\nret .uni;\n}");
  const auto& body = only_function(*m).body;
  ASSERT_EQ(body.size(), 5u);
  const char* const spelled[] = {"lop3.b32", "ld.global.v2.u32", "mov.u32", "add.s32.sat", "ret.uni"};
  for (std::size_t k = 0; k < body.size(); ++k) EXPECT_EQ(opcode_spelling(body[k]), spelled[k]);
  EXPECT_EQ(body[1].operands.size(), 2u);
  EXPECT_EQ(body[4].range.line, only_function(*m).body[3].range.line + 1);
}

TEST(PtxParser, BlanksMayNotStandInSuffixes) {
  for (const char* text : {"add . s32 %r0, %r0, 1;", "add. s32 %r0, %r0, 1;"})
    EXPECT_NE(complaint(std::string(".entry k() {\n.reg .b32 %r0;\n") + text + "\n}"), "");
}

TEST(PtxParser, SparseMultiplicationMayBeNamedBehindItsKind) {
  for (const char* name : {"mma.sp::ordered_metadata.sync.aligned.kind::f8f6f4", "mma.sync.aligned.kind::f8f6f4.sp",
                           "mma.sync.aligned.kind::f8f6f4.sp::ordered_metadata"}) {
    const auto m = parsed(std::string(".entry k() {\n.reg .f32 %f<4>;\n.reg .b32 %r<9>;\n") + name +
                          ".m16n8k64.row.col.f32.e4m3.e4m3.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, {%r4, %r5, "
                          "%r6, %r7}, {%f0, %f1, %f2, %f3}, %r8, 0;\n}");
    ASSERT_EQ(only_function(*m).body.size(), 1u) << name;
    EXPECT_EQ(only_function(*m).body[0].opcode, Opcode::mma_sp) << name;
  }
}

TEST(PtxParser, LabelsObeyScopes) {
  const auto m = parsed(
      ".entry k() {\n.reg .pred p;\nL: bra E;\n{ L: @p bra L; bra.uni E; }\n{ @!p bra L; L: bra L; }\n@p bra L;\nE: "
      "ret;\n}");
  const auto& f = only_function(*m);
  const auto target = [&f](std::size_t k) { return f.labels[f.body[k].operands[0].index].instruction; };
  EXPECT_EQ(target(0), 6u);
  EXPECT_EQ(target(1), 1u);  // the inner L
  EXPECT_EQ(target(2), 6u);
  EXPECT_EQ(target(3), 4u);  // forward to the other inner L
  EXPECT_EQ(target(4), 4u);
  EXPECT_EQ(target(5), 0u);  // the outer L
}

TEST(PtxParser, InliningChainsResolve) {
  const auto m = parsed(
      ".entry k() {\n.loc 1 22 3\n.loc 1 6 3, function_name $s0, inlined_at 1 22 3\n"
      ".loc 1 3 7, function_name $s1, inlined_at 1 6 3\nret;\n}\n.file 1 \"a.cu\"\n"
      ".section .debug_str {\n$s0: .b8 95,90,50\n.b8 0\n$s1: .b8 102,0\n}");
  const auto& f = only_function(*m);
  const SourceLocation& inner = f.locations.at(f.body.at(0).location);
  EXPECT_EQ(inner.line, 3u);
  EXPECT_EQ(inner.function, "f");
  const SourceLocation& middle = f.locations.at(static_cast<std::size_t>(inner.inlined_at));
  EXPECT_EQ(middle.line, 6u);
  EXPECT_EQ(middle.function, "_Z2");
  const SourceLocation& outer = f.locations.at(static_cast<std::size_t>(middle.inlined_at));
  EXPECT_EQ(outer.line, 22u);
  EXPECT_EQ(outer.inlined_at, -1);
  EXPECT_EQ(m->files.at(1), "a.cu");
}

TEST(PtxParser, ParametersComeBeforeResults) {
  const auto m = parsed(".func (.param .align 8 .b8 r[16]) f(.param .b32 a, .param .b64 b) { ret; }");
  const auto& f = only_function(*m);
  EXPECT_EQ(f.parameter_count, 2u);
  EXPECT_EQ(f.result_count, 1u);
  EXPECT_EQ(f.variables[0].name, "a");
  EXPECT_EQ(f.variables[2].name, "r");
  EXPECT_EQ(f.variables[2].size, 16u);
  EXPECT_EQ(f.variables[2].alignment, 8u);
}

TEST(PtxParser, InitialisersWithAddresses) {
  const auto m = parsed(
      ".global .align 4 .u32 x[2][2] = {{1, -2}, {3}};\n.func f();\n.func f() { ret; }\n"
      ".global .u64 p[] = {generic(x)+8, f, 5};\n.global .b8 bytes[2] = {0xFF00(x), mask(x, 0xFF)};\n"
      ".const .f32 c[2] = {0f3F800000, 2.0};");
  const Variable& x = m->variables[0];
  EXPECT_EQ(x.initial, (std::vector<std::uint8_t>{1, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff, 3, 0, 0, 0, 0, 0, 0, 0}));
  const Variable& p = m->variables[1];
  EXPECT_EQ(p.size, 24u);
  ASSERT_EQ(p.relocations.size(), 2u);
  EXPECT_TRUE(p.relocations[0].generic);
  EXPECT_EQ(p.relocations[0].addend, 8);
  EXPECT_TRUE(p.relocations[1].is_function);
  EXPECT_EQ(p.relocations[1].offset, 8u);
  EXPECT_EQ(m->variables[2].relocations[0].mask, 0xFF00u);
  EXPECT_EQ(m->variables[2].relocations[1].mask, 0xFFu);
  EXPECT_EQ(m->variables[3].initial, (std::vector<std::uint8_t>{0, 0, 0x80, 0x3f, 0, 0, 0, 0x40}));
}

TEST(PtxParser, HugeRegisterRangesCostNothing) {
  const auto m = parsed(".entry k() { .reg .b32 %r<4000000000>; mov.b32 %r3999999999, %r7; ret; }");
  EXPECT_EQ(only_function(*m).registers.size(), 2u);
  EXPECT_NE(complaint(".entry k() { .reg .b32 %r<4>; mov.b32 %r4, 0; }").find("'%r4' is not declared"),
            std::string::npos);
}

// GCC's offload compiler writes the parameters of its calls in this form.
TEST(PtxParser, RangesOfParameters) {
  const auto m = parsed(
      ".func (.param .u64 r) g(.param .u64 a, .param .u64 b);\n"
      ".entry k() { .reg .u64 %x; .local .u32 spill<3>; { .param .u64 %P<2>, %R; st.param.u64 [%P0], 1; "
      "st.param.u64 [%P1], 2; call.uni (%R), g, (%P0, %P1); ld.param.u64 %x, [%R]; } mov.u64 %x, spill2; ret; }");
  EXPECT_EQ(m->functions.back().variables.size(), 6u);
  EXPECT_NE(complaint(".entry k() { .param .u64 %P<2>; st.param.u64 [%P2], 1; }").find("'%P2' is not declared"),
            std::string::npos);
  EXPECT_NE(complaint(".entry k() { .param .u64 %P<2>; .param .u64 %P1; }").find("%P1"), std::string::npos);
  EXPECT_NE(complaint(".entry k() { .local .u64 big<5000>; }").find("too many"), std::string::npos);
}

TEST(PtxParser, VectorRegistersAreSplit) {
  const auto m = parsed(
      ".entry k() { .reg .v4 .u32 %v; .reg .u32 %r; mov.v4.u32 %v, %tid; mov.u32 %r, %v.y; mov.u32 %r, %ntid.w; }");
  const auto& f = only_function(*m);
  EXPECT_EQ(f.registers.size(), 5u);
  ASSERT_EQ(f.body.size(), 6u);  // the vector mov becomes four
  EXPECT_EQ(f.body[1].operands[1].sreg, SpecialRegister::tid_y);
  EXPECT_EQ(f.body[4].operands[1].index, 1u);
  EXPECT_EQ(f.body[5].operands[1].bits, 1u);
}

TEST(PtxParser, TextureAddresses) {
  const auto m = parsed(
      ".global .texref t;\n.global .samplerref s;\n.entry k() { .reg .f32 %f<9>; .reg .b64 %rd1;\n"
      "tex.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [t, s, {%f4,%f5}];\ntex.1d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%rd1, "
      "{%f4}];\n}");
  const auto& body = only_function(*m).body;
  EXPECT_TRUE(body[0].operands[1].has_sampler);
  EXPECT_EQ(body[0].operands[1].elements.size(), 3u);
  EXPECT_FALSE(body[1].operands[1].has_sampler);
  EXPECT_EQ(body[1].operands[1].elements.size(), 1u);
}

TEST(PtxParser, AliasesMeanTheFunctionBehind) {
  const auto m = parsed(".visible .func g();\n.visible .func f() { ret; }\n.entry k() { call g; ret; }\n.alias g, f;");
  EXPECT_EQ(m->functions[2].body[0].operands[0].index, 1u);
}

TEST(PtxParser, WrongOperandCountNamesTheSyntax) {
  const std::string text = complaint(".entry k() { .reg .b32 %r<3>; add.s32 %r0, %r1; }");
  EXPECT_NE(text.find("'add' takes 3 operands, not 2"), std::string::npos) << text;
  EXPECT_NE(text.find("syntax: add"), std::string::npos) << text;
}

// Texts of n repetitions that once made parsers slow or recursive.
std::vector<std::string> garbage(std::size_t n) {
  const auto repeated = [n](const std::string& part) {
    std::string out;
    for (std::size_t k = 0; k < n; ++k) out += part;
    return out;
  };
  const std::string entry = kHead + ".entry k() { .reg .b32 %r<9>;\n";
  return {repeated("{"),
          repeated("("),
          kHead + repeated(".func f;"),
          entry + repeated("{"),
          entry + "mov.b32 %r1, " + repeated("-") + "1;",
          entry + "mov.b32 %r1, " + repeated("("),
          entry + "mov.b32 " + repeated("{"),
          entry + repeated("bra L;\n"),
          kHead + ".global .b8 x[4] = " + repeated("{"),
          kHead + ".global .b64 x = " + repeated("mask("),
          entry + repeated("@"),
          entry + repeated("L:"),
          kHead + repeated("/*"),
          kHead + ".global .b8 x" + repeated("[4]"),
          std::string(n, '\0'),
          repeated("\""),
          entry + "mov.b32 %r" + repeated("0") + ", 1;"};
}

// CPU time of this thread, so that other load on the machine does not count.
double cpu_seconds_to_parse(const std::string& text) {
  const auto now = [] {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  };
  const double start = now();
  (void)parse(text, "garbage");
  return now() - start;
}

// Time must grow linearly with the text, on any machine. 8 times the text may cost 24 times as much (8, plus cache
// effects), but not 64 times, as if each repetition looked at all others. Times below a quarter of a second are not
// compared.
TEST(PtxParser, GarbageIsSurvivedInLinearTime) {
  const std::vector<std::string> few = garbage(12500), many = garbage(100000);
  for (std::size_t k = 0; k < few.size(); ++k) {
    const double once = cpu_seconds_to_parse(few[k]), eightfold = cpu_seconds_to_parse(many[k]);
    EXPECT_LT(eightfold, 0.25 + 24 * once) << few[k].substr(0, 100);
  }
  (void)parse(kHead + ".global .b8 x[70368744177664] = {1};", "garbage");  // a large size must not cost work
}

TEST(PtxLinker, ResolvesExternalsAndKeepsPlaces) {
  auto a =
      parse(kHead +
                ".file 1 \"a.cu\"\n.extern .func (.param .b32 r) f(.param .b32 x);\n.extern .global .u32 v;\n.func "
                "own() { ret; }\n"
                ".visible .entry k() { .reg .b32 %r; .reg .b64 %rd;\n.loc 1 5 1\nmov.u64 %rd, v;\ncall own; ret; }\n",
            "a");
  auto b = parse(kHead +
                     ".visible .global .u32 v = 7;\n.file 1 \"b.cu\"\n.func own() { exit; }\n"
                     ".visible .func (.param .b32 r) f(.param .b32 x) {\n.loc 1 9 1\ncall own; ret; }",
                 "b");
  ASSERT_TRUE(a && b);
  const auto linked = link({*a, *b});
  ASSERT_TRUE(linked) << linked.error().message;
  const Module& m = **linked;
  ASSERT_EQ(m.variables.size(), 1u);
  EXPECT_EQ(m.variables[0].initial[0], 7);
  ASSERT_EQ(m.functions.size(), 4u);
  EXPECT_TRUE(m.functions[0].has_body);  // f, now with the body from b
  EXPECT_EQ(m.functions[0].body[0].operands[0].index, 3u);
  EXPECT_NE(m.functions[1].name, m.functions[3].name);  // both were called "own"
  const Instruction& moved = m.functions[2].body[0];
  EXPECT_EQ(moved.operands[1].index, 0u);
  EXPECT_EQ(m.files[m.functions[0].locations[0].file], "b.cu");
  // Line numbers point into the joined text.
  std::size_t at = 0;
  for (std::uint32_t l = 1; l < m.functions[0].body[0].range.line; ++l) at = m.text.find('\n', at) + 1;
  EXPECT_EQ(m.text.substr(at, 8), "call own");
}

TEST(PtxLinker, TwoStrongDefinitionsClash) {
  auto a = parse(kHead + ".visible .global .u32 v;", "a"), b = parse(kHead + ".visible .global .u32 v;", "b");
  const auto linked = link({*a, *b});
  ASSERT_FALSE(linked);
  EXPECT_EQ(linked.error().message, "'v' is defined in a and in b");
  auto weak = parse(kHead + ".weak .global .u32 v = 1;", "w");
  EXPECT_TRUE(link({*weak, *weak, *a}));
}

}  // namespace
}  // namespace warpgrind::ptx
