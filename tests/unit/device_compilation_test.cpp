// What the compiler must take, whatever the kernel (tests/data/device/compilation.ptx).
#include <gtest/gtest.h>

#include <cmath>

#include "device_fixture.h"

namespace warpgrind::device {
namespace {

TEST(Compilation, SaturationOfACanonicalValue) {
  Gpu gpu(1, 0, "compilation.ptx");
  auto* in = gpu.array<float>(32);
  auto* out = gpu.array<std::uint32_t>(32);
  for (int i = 0; i < 32; ++i) in[i] = -1.5f + 0.0625f * static_cast<float>(i);
  in[31] = std::nanf("");
  const LaunchResult r = gpu.run("saturate", shape({1, 1, 1}, {32, 1, 1}), out, in);
  ASSERT_FALSE(r.fault) << r.fault->message;
  for (int i = 0; i < 31; ++i) {
    const float clamped = std::fmin(std::fmax(in[i] + 1.f, 0.f), 1.f);
    EXPECT_EQ(out[i], static_cast<std::uint32_t>(255.f * clamped)) << i;
  }
  EXPECT_EQ(out[31], 0u);
}

// Frames are larger than the guard below a warp's stack and mostly untouched: none may step over it.
TEST(Compilation, LargeFramesHitTheGuard) {
  Gpu gpu(1, 0, "compilation.ptx");
  auto* out = gpu.array<double>(1024);
  const LaunchResult r = gpu.run("deep", shape({1, 1, 1}, {64, 1, 1}), out);
  ASSERT_TRUE(r.fault);
  EXPECT_EQ(r.fault->kind, FaultKind::stack_overflow) << r.fault->message;
}

}  // namespace
}  // namespace warpgrind::device
