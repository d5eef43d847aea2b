// Machine instructions of neighbours that ptxas joins: handwritten PTX, as for an H200. The counts are those of
// tests/h200/operations.cu on one.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "gpu/gpu_model.h"
#include "ptx/parser.h"
#include "sass/registers.h"

namespace warpgrind::sass {
namespace {

struct Kernel {
  explicit Kernel(const std::string& body) {
    const auto parsed = ptx::parse(
        ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<32>; .reg .b64 %rd<16>; "
        ".reg .f32 %f<16>; .reg .f64 %fd<8>; .reg .pred %p<4>;\n" +
            body + "\nret;\n}\n",
        "test.ptx");
    EXPECT_TRUE(parsed.ok()) << body << (parsed.ok() ? "" : parsed.error().message + parsed.error().detail);
    if (!parsed.ok()) return;
    module = *parsed;
    code = code_of(*module, 0, **find_gpu_model("h200"));
    for (const Block& b : code.blocks) all.insert(all.end(), b.instructions.begin(), b.instructions.end());
  }
  std::shared_ptr<const ptx::Module> module;
  Code code;
  std::vector<Instruction> all;
};

float all_of(const std::string& body) {
  float sum = 0;
  for (const Instruction& i : Kernel(body).all) sum += i.issue;
  return sum;
}

// Machine instructions of the body, without its last one, a store.
float count(const std::string& body) {
  return all_of(body) - all_of("st.global.u32 [%rd1], %r1;");
}

TEST(Selection, SumsTakeShiftsAndProducts) {
  EXPECT_EQ(count("shl.b32 %r2, %r1, 3; add.s32 %r3, %r2, %r4; st.global.u32 [%rd1], %r3;"), 1);  // LEA
  EXPECT_EQ(count("shr.u32 %r2, %r1, 3; add.s32 %r3, %r2, %r4; st.global.u32 [%rd1], %r3;"), 1);  // LEA.HI
  EXPECT_EQ(count("mul.wide.u32 %rd2, %r1, %r2; add.s64 %rd3, %rd2, %rd4; st.global.u64 [%rd1], %rd3;"), 1);
}

TEST(Selection, ASumOfAWideProductWorksAsTheProduct) {
  const Kernel k("mul.wide.u32 %rd2, %r1, %r2; add.s64 %rd3, %rd2, %rd4; st.global.u64 [%rd1], %rd3;");
  const auto sum = std::find_if(k.all.begin(), k.all.end(),
                                [](const Instruction& i) { return i.issue > 0 && i.pipe == Pipe::imad; });
  ASSERT_NE(sum, k.all.end());
  EXPECT_EQ(sum->work, 2);  // two turns of the pipe
}

TEST(Selection, LogicOfThreeInputsIsOneInstruction) {
  EXPECT_EQ(count("and.b32 %r4, %r1, %r2; xor.b32 %r5, %r1, %r3; or.b32 %r6, %r4, %r5; st.global.u32 [%rd1], %r6;"), 1);
  // Four inputs are too many for one.
  EXPECT_EQ(count("and.b32 %r4, %r1, %r2; xor.b32 %r5, %r7, %r3; or.b32 %r6, %r4, %r5; st.global.u32 [%rd1], %r6;"), 2);
}

TEST(Selection, AnExtremeTakesASum) {
  EXPECT_EQ(count("add.s32 %r3, %r1, %r2; max.s32 %r4, %r3, %r5; st.global.u32 [%rd1], %r4;"), 1);  // VIADDMNMX
}

// The sum becomes conditional, in the place of the selection.
TEST(Selection, ASelectionTakesASum) {
  const std::string text = "setp.gt.s32 %p1, %r1, %r2; add.s32 %r3, %r1, %r4; selp.b32 %r5, %r3, %r6, %p1; ";
  EXPECT_EQ(count(text + "st.global.u32 [%rd1], %r5;"), 2);
  EXPECT_EQ(count(text + "add.s32 %r7, %r3, %r5; st.global.u32 [%rd1], %r7;"), 4);  // the sum has another reader
}

TEST(Selection, AShiftByAWordIsTheOtherRegister) {
  EXPECT_EQ(count("shr.u64 %rd3, %rd2, 32; st.global.u64 [%rd1], %rd3;"), 0);
}

TEST(Selection, WhatIsPartOfAnotherHasNoLatency) {
  const Kernel k("shl.b32 %r2, %r1, 3; add.s32 %r3, %r2, %r4; st.global.u32 [%rd1], %r3;");
  for (const Instruction& i : k.all)
    if (i.issue == 0) EXPECT_EQ(i.latency, 0);
}

// ptxas makes the two words of a constant once a block, and not where the lower word is zero.
TEST(Selection, ConstantsOfTwoWords) {
  const auto count_of = [](const std::string& constant, unsigned products) {
    std::string text = "mov.f64 %fd1, " + constant + "; ";
    for (unsigned k = 0; k < products; ++k) text += "fma.rn.f64 %fd2, %fd2, %fd3, %fd1; ";
    return count(text + "st.global.f64 [%rd1], %fd2;") - static_cast<float>(products);
  };
  EXPECT_EQ(count_of("0d3ff0000000000000", 1), 0);
  EXPECT_EQ(count_of("0d3fd5555555555555", 1), 2);
  EXPECT_EQ(count_of("0d3fd5555555555555", 3), 2);
}

TEST(Selection, SignsOfDivisions) {
  EXPECT_EQ(count("div.u32 %r3, %r1, %r2; st.global.u32 [%rd1], %r3;"), 17);
  EXPECT_EQ(count("div.s32 %r3, %r1, %r2; st.global.u32 [%rd1], %r3;"), 24);
  EXPECT_EQ(count("rem.s32 %r3, %r1, %r2; st.global.u32 [%rd1], %r3;"), 21);
}

// What a branch guards needs its predicate, and the values that it may leave as they are.
TEST(IfConversion, GuardedInstructionsDependOnTheirGuardAndTheOldValue) {
  const Kernel k(
      "setp.gt.s32 %p1, %r1, %r2; mov.u32 %r3, %r4; @%p1 bra $end; add.s32 %r3, %r1, 7; $end: st.global.u32 [%rd1], "
      "%r3;");
  const auto sum =
      std::find_if(k.all.begin(), k.all.end(), [](const Instruction& i) { return i.guarded && i.pipe == Pipe::alu; });
  ASSERT_NE(sum, k.all.end());
  EXPECT_EQ(sum->reads.size(), 3U);  // %r1, %p1, %r3
  EXPECT_NE(std::find(sum->reads.begin(), sum->reads.end(), sum->writes.front()), sum->reads.end());
}

}  // namespace
}  // namespace warpgrind::sass
