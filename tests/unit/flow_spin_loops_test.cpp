// Kernels whose blocks may wait for other blocks (flow/spin_loops.h), in PTX text. flow_test.cpp has the loops.
#include <gtest/gtest.h>

#include "flow/spin_loops.h"
#include "ptx/parser.h"

namespace {

using namespace warpgrind;

bool may_wait(const std::string& body, const std::string& before = "") {
  auto parsed = ptx::parse(".version 8.0\n.target sm_90\n.address_size 64\n" + before +
                               ".visible .entry k(.param .u64 p) {\n"
                               ".reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<32>; .shared .b64 s[4];\n"
                               "ld.param.u64 %rd1, [p];\n" +
                               body + "ret; }\n",
                           "test.ptx");
  EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().message + parsed.error().detail);
  if (!parsed.ok()) return false;
  std::uint32_t kernel = 0;
  while (!(*parsed)->functions[kernel].is_entry) ++kernel;
  return flow::may_wait_for_blocks(**parsed, kernel);
}

std::string loop(const std::string& load) {
  return "L: " + load + " setp.eq.u32 %p1, %r1, 0; @%p1 bra L;\n";
}

TEST(WaitsForBlocks, LoopsThatReadWhatOthersWrite) {
  EXPECT_TRUE(may_wait(loop("ld.volatile.global.u32 %r1, [%rd1];")));
  EXPECT_TRUE(may_wait(loop("ld.relaxed.gpu.u32 %r1, [%rd1];")));
  EXPECT_TRUE(may_wait(loop("ld.acquire.gpu.global.u32 %r1, [%rd1];")));
  EXPECT_TRUE(may_wait(loop("atom.global.or.b32 %r1, [%rd1], 0;")));
  EXPECT_TRUE(may_wait(loop("membar.gl; ld.global.u32 %r1, [%rd1];")));
  EXPECT_TRUE(may_wait(loop("nanosleep.u32 100; ld.global.u32 %r1, [%rd1];")));
  EXPECT_FALSE(may_wait(loop("ld.global.u32 %r1, [%rd1];")));
}

// The last block of a reduction, a histogram, and a loop over an array do not wait.
TEST(WaitsForBlocks, NotWithoutALoopThatWaits) {
  EXPECT_FALSE(may_wait(""));
  EXPECT_FALSE(
      may_wait("membar.gl; atom.global.inc.u32 %r1, [%rd1], 7; setp.ne.u32 %p1, %r1, 7; @%p1 bra E;\n"
               "ld.volatile.global.u32 %r2, [%rd1+4]; st.global.u32 [%rd1+8], %r2; E:\n"));
  EXPECT_FALSE(
      may_wait("mov.u32 %r2, 0; L: red.global.add.u32 [%rd1], 1; add.u32 %r2, %r2, 1;\n"
               "setp.lt.u32 %p1, %r2, 9; @%p1 bra L;\n"));
}

// Threads of one block wait for each other in shared memory.
TEST(WaitsForBlocks, NotInSharedMemory) {
  EXPECT_FALSE(may_wait(loop("ld.volatile.shared.u32 %r1, [s];")));
  EXPECT_FALSE(may_wait("L: mbarrier.try_wait.parity.shared::cta.b64 %p1, [s], 0; @!%p1 bra L;\n"));
  EXPECT_FALSE(may_wait("membar.cta;\n" + loop("ld.volatile.shared.u32 %r1, [s];")));
  EXPECT_TRUE(may_wait(loop("ld.volatile.u32 %r1, [%rd1];")));  // generic: any memory
}

// A function that is called in a loop may read the word.
TEST(WaitsForBlocks, CalledFunctions) {
  const std::string reads =
      ".func (.reg .b32 %v) f(.reg .b64 %a) { ld.volatile.global.u32 %v, [%a]; ret; }\n"
      ".func (.reg .b32 %v) g(.reg .b64 %a) { call (%v), f, (%a); ret; }\n";
  const std::string plain = ".func (.reg .b32 %v) f(.reg .b64 %a) { ld.global.u32 %v, [%a]; ret; }\n";
  EXPECT_TRUE(may_wait("call (%r1), f, (%rd1);\n", reads));
  EXPECT_TRUE(may_wait("call (%r1), g, (%rd1);\n", reads));
  EXPECT_FALSE(may_wait("", reads));
  EXPECT_FALSE(may_wait("call (%r1), f, (%rd1);\n", plain));
  const std::string by_pointer =
      "proto: .callprototype (.reg .b32 _) _ (.reg .b64 _);\ncall (%r1), %rd2, (%rd1), proto;\n";
  EXPECT_TRUE(may_wait(by_pointer, reads));
  EXPECT_FALSE(may_wait(by_pointer, plain));
}

}  // namespace
