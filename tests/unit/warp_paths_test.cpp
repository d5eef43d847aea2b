// Analysis of the code around a shuffle: whether each reading lane uses the result on every path.
#include "checkers/warp_paths.h"

#include <gtest/gtest.h>

#include <string>

#include "ptx/opcode.h"
#include "ptx/parser.h"

namespace warpgrind::checkers {
namespace {

// Of the lanes 0 to 9 of a warp of 48 threads, those that use the result of the shuffle. %r1: tid.x, %r6: an argument.
LaneMask users(const std::string& after, unsigned warp = 0, LaneMask readers = 0x3ff) {
  const std::string text =
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u32 n)\n{\n"
      ".reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %rd<9>;\n"
      "ld.param.u64 %rd1, [out]; ld.param.u32 %r6, [n]; mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31;\n"
      "shfl.sync.down.b32 %r3|%p1, %r1, 16, 31, -1;\n" +
      after + "\nret;\n}\n";
  const auto module = ptx::parse(text, "test");
  EXPECT_TRUE(module.ok()) << module.error().message;
  if (!module) return 0;
  const ptx::Function& f = (*module)->functions[0];
  std::uint32_t shuffle = 0;
  while (f.body[shuffle].opcode != ptx::Opcode::shfl) ++shuffle;
  const auto place = [&](unsigned lane) {
    return LaneOfBlock{{warp * kWarpSize + lane, 0, 0}, {48, 1, 1}, {7, 1, 1}, lane};
  };
  const LaneMask out = lanes_that_use_result(f, shuffle, readers, 0x3ff, place);
  if (result_is_used(f, shuffle)) {
    EXPECT_EQ(out, readers);
  }
  return out;
}

TEST(WarpPaths, UsesOnEveryPath) {
  EXPECT_EQ(users("add.s32 %r4, %r3, %r1; st.global.u32 [%rd1], %r4;"), 0x3ffu);
  EXPECT_EQ(users("add.s32 %r4, %r3, %r1; mov.u32 %r4, 0; st.global.u32 [%rd1], %r4;"), 0u);
  EXPECT_EQ(users("setp.gt.s32 %p2, %r3, 4; @%p2 st.global.u32 [%rd1], %r1;"), 0x3ffu);
}

TEST(WarpPaths, GuardsThatFollowFromTheThread) {
  EXPECT_EQ(users("setp.ne.s32 %p2, %r1, 0; @%p2 bra L; st.global.u32 [%rd1], %r3; L:"), 1u);
  EXPECT_EQ(users("setp.ne.s32 %p2, %r2, 0; @%p2 bra L; st.global.u32 [%rd1], %r3; L:", 1), 1u);
  EXPECT_EQ(users("setp.ne.s32 %p2, %r1, 0; @%p2 bra L; st.global.u32 [%rd1], %r3; L:", 1), 0u);
  EXPECT_EQ(users("setp.lt.u32 %p2, %r2, 4; @%p2 st.global.u32 [%rd1], %r3;"), 0xfu);
  EXPECT_EQ(users("setp.lt.u32 %p2, %r2, 4; @!%p2 st.global.u32 [%rd1], %r3;"), 0x3f0u);
  EXPECT_EQ(users("setp.eq.s32 %p2, %r2, 9; @!%p2 ret; st.global.u32 [%rd1], %r3;"), 0x200u);
}

// x + 16 < blockDim.x, as a guard of the sum.
TEST(WarpPaths, SelectsThatFollowFromTheThread) {
  const std::string select =
      "mov.u32 %r7, %ntid.x; add.s32 %r8, %r1, 16; setp.lt.u32 %p2, %r8, %r7; selp.b32 %r9, %r3, 0, %p2;"
      "st.global.u32 [%rd1], %r9;";
  EXPECT_EQ(users(select, 0), 0x3ffu);
  EXPECT_EQ(users(select, 1), 0u);
}

TEST(WarpPaths, UnknownConditionsMayDropIt) {
  EXPECT_EQ(users("setp.lt.s32 %p2, %r1, %r6; @%p2 st.global.u32 [%rd1], %r3;"), 0u);
  EXPECT_EQ(users("setp.lt.s32 %p2, %r1, %r6; selp.b32 %r4, %r3, 0, %p2; st.global.u32 [%rd1], %r4;"), 0u);
  EXPECT_EQ(
      users("setp.lt.s32 %p2, %r1, %r6; @%p2 bra L; st.global.u32 [%rd1], %r3; ret; L: st.global.u32 [%rd1], %r3;"),
      0u);
  // A register with two definitions: the counter of a loop.
  EXPECT_EQ(users("mov.u32 %r4, 0; L: add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, 5; @%p2 bra L;"
                  "st.global.u32 [%rd1], %r3;"),
            0x3ffu);
}

// The lanes 6 to 9 get the undefined value.
TEST(WarpPaths, LaterShufflesHandItOn) {
  const std::string sum = "add.s32 %r3, %r3, %r1; ", guard = "setp.ne.s32 %p2, %r1, 0; @%p2 bra L; ";
  const std::string store = "st.global.u32 [%rd1], %r4; L:";
  const auto down = [](int n) { return "shfl.sync.down.b32 %r4, %r3, " + std::to_string(n) + ", 31, 0x3ff; "; };
  EXPECT_EQ(users(sum + down(6) + guard + store, 0, 0x3c0), 1u);
  EXPECT_EQ(users(sum + down(5) + guard + store, 0, 0x3c0), 0u);
  EXPECT_EQ(users(sum + down(6) + store, 0, 0x3c0), 0xfu);
  EXPECT_EQ(users(sum + "mov.u32 %r7, 9; shfl.sync.idx.b32 %r4, %r3, %r7, 31, 0x3ff; " + guard + store, 0, 0x3c0), 1u);
  EXPECT_EQ(users(sum + "shfl.sync.bfly.b32 %r4, %r3, 8, 31, 0x3ff; " + guard + store, 0, 0x3c0), 1u);
  EXPECT_EQ(users(sum + "shfl.sync.up.b32 %r4, %r3, 1, 0, 0x3ff; " + store, 0, 0x3c0), 0x380u);
  EXPECT_EQ(users(sum + "shfl.sync.idx.b32 %r4, %r3, %r6, 31, 0x3ff; " + store, 0, 0x3c0), 0u);  // unknown lane
  // Lane 0 adds what lane 6 gave to lane 2, but not if another value has replaced it there.
  const std::string twice = sum + down(4) + "mov.u32 %r3, %r4; " + down(2);
  EXPECT_EQ(users(twice + guard + store, 0, 0x3c0), 1u);
  EXPECT_EQ(users(sum + down(4) + "mov.u32 %r3, %r1; " + down(2) + guard + store, 0, 0x3c0), 0u);
  // Only lanes that hold it on every path hand it on.
  EXPECT_EQ(users(sum + "setp.lt.s32 %p3, %r1, %r6; @%p3 mov.u32 %r3, 1; " + down(6) + guard + store, 0, 0x3c0), 0u);
}

TEST(LaneValues, IntegersOfTheThread) {
  const auto module = ptx::parse(
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n"
      ".reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %rd<9>;\n"
      "mov.u32 %r0, %tid.x; shr.u32 %r1, %r0, 5; sub.s32 %r2, %r1, 3; cvt.s64.s32 %rd0, %r2; shr.s32 %r3, %r2, 1;\n"
      "mul.wide.s32 %rd1, %r2, 4; mad.lo.s32 %r4, %r1, %r0, 7; setp.lt.s32 %p0, %r2, 0; setp.lt.u32 %p1, %r2, 9;\n"
      "not.pred %p2, %p0; xor.b32 %r5, %r0, -1; shl.b32 %r6, %r0, 33; mov.u32 %r7, %ctaid.x;\nret;\n}\n",
      "test");
  ASSERT_TRUE(module.ok()) << module.error().message;
  const ptx::Function& f = (*module)->functions[0];
  LaneValues values(f, {{40, 0, 0}, {64, 1, 1}, {7, 1, 1}, 8});
  const auto of = [&](const std::string& name) {
    ptx::RegId r = 0;
    while (f.registers[r].name != name) ++r;
    return values.of(r);
  };
  EXPECT_EQ(of("%r1"), 1u);
  EXPECT_EQ(of("%r2"), 0xfffffffeu);
  EXPECT_EQ(of("%rd0"), 0xfffffffffffffffeu);
  EXPECT_EQ(of("%r3"), 0xffffffffu);
  EXPECT_EQ(of("%rd1"), 0xfffffffffffffff8u);
  EXPECT_EQ(of("%r4"), 47u);
  EXPECT_EQ(of("%p0"), 1u);
  EXPECT_EQ(of("%p1"), 0u);
  EXPECT_EQ(of("%p2"), 0u);
  EXPECT_EQ(of("%r5"), 0xffffffd7u);
  EXPECT_EQ(of("%r6"), 0u);
  EXPECT_EQ(of("%r7"), std::nullopt);
}

}  // namespace
}  // namespace warpgrind::checkers
