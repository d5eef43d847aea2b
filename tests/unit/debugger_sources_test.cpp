// Which instruction gave a register its value (register_sources.h).
#include <gtest/gtest.h>

#include "debugger/register_sources.h"
#include "ptx/parser.h"

namespace {

using namespace warpgrind;

// Registers by their names, instructions by their order.
TEST(RegisterSources, OnlyWhatAllPathsPass) {
  const auto module = ptx::parse(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) {
  .reg .pred %p<3>;
  .reg .b32 %r<9>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out];
  ld.global.u32 %r1, [%rd1];
  setp.gt.s32 %p1, %r1, 3;
  @%p1 mov.u32 %r2, 1;
  @%p1 bra side;
  mov.u32 %r3, 2;
side:
  mov.u32 %r4, 3;
loop:
  add.s32 %r5, %r4, 1;
  add.s32 %r6, %r5, 1;
  mov.u32 %r4, %r6;
  setp.lt.s32 %p2, %r4, 100;
  @%p2 bra loop;
  st.global.u32 [%rd1], %r6;
  ret;
}
)",
                                 "sources");
  ASSERT_TRUE(module.ok());
  const ptx::Function& f = (*module)->functions[0];
  const debugger::RegisterSources sources(f);
  const auto written = [&](const char* name, std::uint32_t at) {
    for (ptx::RegId r = 0; r < f.registers.size(); ++r)
      if (f.registers[r].name == name) return static_cast<int>(sources.written_before(at, r).instruction);
    return -2;
  };
  constexpr int kNone = -1;
  constexpr std::uint32_t kLoop = 7, kEnd = 12;
  EXPECT_EQ(written("%r1", kEnd), 1);
  EXPECT_EQ(written("%r1", 1), kNone);     // it is the next instruction
  EXPECT_EQ(written("%r2", kEnd), kNone);  // a guard may skip it
  EXPECT_EQ(written("%r3", kEnd), kNone);  // one of two ways
  EXPECT_EQ(written("%r3", 6), kNone);
  EXPECT_EQ(written("%r4", kEnd), kNone);   // two instructions write it
  EXPECT_EQ(written("%r5", kLoop), kNone);  // not in the first round
  EXPECT_EQ(written("%r5", kLoop + 1), 7);
  EXPECT_EQ(written("%r6", kEnd), 8);
}

}  // namespace
