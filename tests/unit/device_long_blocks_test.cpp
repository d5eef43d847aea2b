// Straight-line code of more than 65,535 instructions of one kind: unrolled loops of generated kernels have that.
#include <gtest/gtest.h>

#include <string>

#include "ptx_kernel.h"

namespace warpgrind::device {
namespace {

constexpr std::uint32_t kInstructions = 66'000;

TEST(LongBlocks, EveryInstructionIsCounted) {
  std::string body = "mov.f32 %f1, 0f3F800000;\n";
  for (std::uint32_t i = 0; i < kInstructions; ++i) body += "fma.rn.f32 %f1, %f1, %f1, %f1;\n";
  Kernel kernel(body + kOwnWord + "st.global.f32 [%rd3], %f1;");
  const LaunchResult r = kernel.run(32);
  ASSERT_NE(r.kernel, nullptr);
  std::uint64_t ffma = 0, fp32 = 0, all = 0;
  for (const events::BlockFacts& block : r.kernel->facts().blocks) {
    ffma += block.ffma;
    fp32 += block.by_class[static_cast<unsigned>(InstructionClass::fp32)];
    all += block.instruction_count;
  }
  EXPECT_EQ(ffma, kInstructions);
  EXPECT_EQ(fp32, kInstructions);
  EXPECT_GT(all, kInstructions);
}

}  // namespace
}  // namespace warpgrind::device
