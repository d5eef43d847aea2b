// Slow paths of exact divisions, reciprocals and roots: which operands take them, and what they cost the warp.
#include "jit/calls/slow_paths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include "ptx_kernel.h"
#include "sass/code.h"

namespace warpgrind {
namespace {

using events::SlowPath;
using events::SlowPathCounts;

constexpr LaneMask kAll = 0xffffffffu;

std::uint32_t bits(float v) {
  return std::bit_cast<std::uint32_t>(v);
}
std::uint64_t bits(double v) {
  return std::bit_cast<std::uint64_t>(v);
}

// Cost for a warp of which each lane has one of the operand pairs, in turn.
template <class T>
SlowPathCounts cost(SlowPath kind, std::vector<std::pair<T, T>> lanes, LaneMask active = kAll) {
  decltype(bits(T{})) a[kWarpSize], b[kWarpSize];
  for (unsigned l = 0; l < kWarpSize; ++l) {
    a[l] = bits(lanes[l % lanes.size()].first);
    b[l] = bits(lanes[l % lanes.size()].second);
  }
  return jit::slow_path_cost(kind, active, a, b);
}
template <class T>
std::uint64_t instructions(SlowPath kind, T a, T b = 1) {
  return cost<T>(kind, {{a, b}}).instructions;
}

constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
constexpr double kDoubleInfinity = std::numeric_limits<double>::infinity();

// The edges of FCHK: exponents alone decide.
TEST(SlowPaths, FloatDivisionsTakeItAtTheEdgesOfTheirRange) {
  const auto slow = [](float a, float b) { return instructions(SlowPath::division, a, b) != 0; };
  EXPECT_FALSE(slow(1, 3));
  EXPECT_FALSE(slow(-0x1p-102f, 1));
  EXPECT_TRUE(slow(0x1.fffffep-103f, 1));
  EXPECT_TRUE(slow(0, 3));
  EXPECT_FALSE(slow(1, 0x1p-125f));
  EXPECT_TRUE(slow(1, 0x1.fffffep-126f));
  EXPECT_FALSE(slow(1, 0x1.fffffep124f));
  EXPECT_TRUE(slow(0x1p20f, 0x1p125f));
  EXPECT_FALSE(slow(0x1p-60f, 0x1p64f));
  EXPECT_TRUE(slow(0x1p-60f, 0x1p65f));
  EXPECT_FALSE(slow(0x1p126f, 1));
  EXPECT_TRUE(slow(0x1p127f, 1));
  for (const float special : {0.0f, 1e-40f, kInfinity, kNan}) {
    EXPECT_TRUE(slow(special, 1)) << special;
    EXPECT_TRUE(slow(1, special)) << special;
  }
}

// Counted in the routine of ptxas, with the call: instructions of one way through it.
TEST(SlowPaths, FloatDivisionsCostAsTheirRoutine) {
  EXPECT_EQ(instructions(SlowPath::division, 0.0f, 3.0f), 34u);  // zero
  EXPECT_EQ(instructions(SlowPath::division, 1.0f, 0.0f), 38u);  // infinity
  EXPECT_EQ(instructions(SlowPath::division, kNan, 1.0f), 24u);
  EXPECT_EQ(instructions(SlowPath::division, 0x1p-110f, 1.0f), 45u);      // a normal result
  EXPECT_EQ(instructions(SlowPath::division, 0x1p-110f, 0x1p20f), 73u);   // a subnormal one
  EXPECT_EQ(instructions(SlowPath::division, 0x1p-110f, 0x1p100f), 51u);  // zero
  EXPECT_EQ(instructions(SlowPath::division, 0x1p100f, 0x1p-100f), 49u);  // infinity
  EXPECT_EQ(instructions(SlowPath::division, 1e-40f, 1.0f), 96u);         // a subnormal dividend and result
  const SlowPathCounts zero = cost<float>(SlowPath::division, {{0.0f, 3.0f}});
  EXPECT_EQ(zero.alu, 21u);
  EXPECT_EQ(zero.thread_instructions, 32u * 34u);
}

// A warp executes what any of its active lanes needs.
TEST(SlowPaths, LanesOfAWarpShareTheRoutine) {
  const std::uint64_t zero = 34, tiny = 45, common = 19;
  const auto both = cost<float>(SlowPath::division, {{0.0f, 1.0f}, {0x1p-110f, 1.0f}});
  EXPECT_EQ(both.instructions, zero + tiny - common);
  EXPECT_EQ(both.warps, 1u);
  const auto one = cost<float>(SlowPath::division, {{0.0f, 1.0f}, {1.0f, 1.0f}}, 1);
  EXPECT_EQ(one.thread_instructions, zero);
  EXPECT_EQ(cost<float>(SlowPath::division, {{0.0f, 1.0f}, {1.0f, 1.0f}}, 2).warps, 0u);
  // The end of a root's usual path is executed if a lane needs it.
  EXPECT_EQ(cost<float>(SlowPath::root, {{0.0f, 0.0f}, {2.0f, 0.0f}}).instructions, 12u);
  EXPECT_EQ(cost<float>(SlowPath::root, {{0.0f, 0.0f}}).instructions, 8u);
}

// Most calls are for zeros by normal numbers, which are sorted out eight lanes at a time. The routine's instructions of
// each lane are those that it costs alone.
TEST(SlowPaths, ZeroDividendsAmongOthers) {
  constexpr float kValues[] = {0.0f,      -0.0f,    1.0f,      -3.0f,    1e-40f,    kInfinity, kNan,
                               0x1p-110f, 0x1p127f, 0x1p-126f, 0x1p100f, -0x1p-60f, 7.5f};
  std::vector<std::pair<float, float>> pairs;
  for (const float a : kValues)
    for (const float b : kValues) pairs.emplace_back(a, b);
  for (std::size_t first = 0; first < pairs.size(); ++first) {
    std::vector<std::pair<float, float>> lanes;
    for (unsigned l = 0; l < kWarpSize; ++l) lanes.push_back(pairs[(first + l * 5) % pairs.size()]);
    for (const LaneMask active : {kAll, LaneMask{0x0f00ff31u}, LaneMask{1} << first % kWarpSize}) {
      SlowPathCounts sum;
      std::uint64_t most = 0;
      for (unsigned l = 0; l < kWarpSize; ++l) {
        if ((active >> l & 1) == 0) continue;
        const SlowPathCounts alone = cost<float>(SlowPath::division, lanes, LaneMask{1} << l);
        EXPECT_EQ(alone.thread_instructions, alone.instructions);
        sum.add(alone);
        most = std::max(most, alone.instructions);
      }
      const SlowPathCounts all = cost<float>(SlowPath::division, lanes, active);
      EXPECT_EQ(all.thread_instructions, sum.thread_instructions);
      EXPECT_EQ(all.warps, sum.warps == 0 ? 0u : 1u);
      EXPECT_GE(all.instructions, most);
      EXPECT_LE(all.instructions, sum.instructions);
    }
  }
}

TEST(SlowPaths, DoubleDivisionsTakeItForSmallDividendsAndQuotients) {
  const auto slow = [](double a, double b) { return instructions(SlowPath::double_division, a, b); };
  EXPECT_EQ(slow(1, 3), 0u);
  EXPECT_EQ(slow(0, 3), 53u + 2 + 2 + 4 + 8);
  EXPECT_EQ(slow(0x1p-967, 1), 0u);
  EXPECT_EQ(slow(0x1.fffffffffffffp-968, 1), 64u);
  EXPECT_EQ(slow(0x1p-500, 0x1p600), 80u);  // a subnormal quotient
  EXPECT_NE(slow(1, 0), 0u);
  EXPECT_NE(slow(1, 1e-310), 0u);
  EXPECT_NE(slow(kDoubleInfinity, 1), 0u);
  EXPECT_NE(slow(1, kDoubleInfinity), 0u);
}

TEST(SlowPaths, RootsAndReciprocals) {
  const auto root = [](float v) { return instructions(SlowPath::root, v); };
  EXPECT_EQ(root(2), 0u);
  EXPECT_EQ(root(0x1p-101f), 0u);
  EXPECT_EQ(root(0x1p-102f), 12u + 3 + 3 + 10 - 4);
  EXPECT_EQ(root(0), 12u - 4);
  EXPECT_EQ(root(-1), 12u + 3 - 4);
  EXPECT_NE(root(kInfinity), 0u);
  const auto reciprocal = [](float v) { return instructions(SlowPath::reciprocal, v); };
  EXPECT_EQ(reciprocal(-3), 0u);
  EXPECT_EQ(reciprocal(0x1.fffffep125f), 0u);
  EXPECT_EQ(reciprocal(0x1p126f), 14u + 3 + 30 - 4);  // a subnormal result
  EXPECT_EQ(reciprocal(1e-40f), 14u + 10 - 4);
  EXPECT_NE(reciprocal(0), 0u);
  const auto doubles = [](SlowPath kind, double v) { return instructions(kind, v); };
  EXPECT_EQ(doubles(SlowPath::double_root, 2), 0u);
  EXPECT_EQ(doubles(SlowPath::double_root, 0), 17u + 2 + 1);
  EXPECT_EQ(doubles(SlowPath::double_root, 0x1p-1000), 17u + 8);
  EXPECT_NE(doubles(SlowPath::double_root, -1), 0u);
  EXPECT_EQ(doubles(SlowPath::double_reciprocal, -2), 0u);
  EXPECT_EQ(doubles(SlowPath::double_reciprocal, 0), 16u + 6);
  EXPECT_EQ(doubles(SlowPath::double_inverse_root, 2), 0u);
  EXPECT_EQ(doubles(SlowPath::double_inverse_root, 0), 12u + 2);
}

// Counted while a kernel runs: by instruction, for the lanes that execute it.
struct Counted {
  explicit Counted(const std::string& body, unsigned threads = 64) : kernel(body), run(kernel.run(threads)) {
    const events::KernelFacts& facts = run.kernel->facts();
    code = sass::translate(*kernel.module, facts, **find_gpu_model("h200"));
    flow = sass::flow_of(code, facts, run.counts);
  }
  SlowPathCounts sum() const {
    SlowPathCounts all;
    for (const sass::Flow::SlowPath& s : flow.slow_paths) all.add(s.counts);
    return all;
  }
  device::Kernel kernel;
  device::LaunchResult run;
  sass::Code code;
  sass::Flow flow;
};
constexpr const char* kStore = "st.global.f32 [%rd1], %f9;\n";

TEST(SlowPaths, AKernelCountsThem) {
  const std::string number = "mov.u32 %r1, %tid.x; cvt.rn.f32.u32 %f1, %r1; ";
  // Lane 0 of the first warp divides zero.
  const SlowPathCounts zero = Counted(number + "div.rn.f32 %f9, %f1, 0f40400000;" + kStore).sum();
  EXPECT_EQ(zero.warps, 1u);
  EXPECT_EQ(zero.instructions, 34u);
  EXPECT_EQ(zero.thread_instructions, 34u);
  EXPECT_EQ(Counted(number + "add.f32 %f1, %f1, 0f3F800000; div.rn.f32 %f9, %f1, 0f40400000;" + kStore).sum().warps,
            0u);
  // Not executed by the lane, or with another rounding.
  EXPECT_EQ(Counted(number + "setp.ne.u32 %p1, %r1, 0; @%p1 div.rn.f32 %f9, %f1, 0f40400000;" + kStore).sum().warps,
            0u);
  EXPECT_EQ(Counted(number + "div.approx.f32 %f9, %f1, 0f40400000;" + kStore).sum().warps, 0u);
  // The same for all lanes, of both warps.
  const SlowPathCounts all =
      Counted("mov.u32 %r2, %ntid.x; cvt.rn.f32.u32 %f1, %r2; sub.f32 %f1, %f1, %f1; div.rn.f32 %f9, %f1, 0f40400000;" +
              std::string(kStore))
          .sum();
  EXPECT_EQ(all.warps, 2u);
  EXPECT_EQ(all.thread_instructions, 64u * 34u);
}

TEST(SlowPaths, DoublesOfAKernelCount) {
  const std::string number = "mov.u32 %r1, %tid.x; cvt.rn.f64.u32 %fd1, %r1; add.f64 %fd4, %fd1, 0d3FF0000000000000; ";
  const SlowPathCounts two = Counted(number +
                                     "div.rn.f64 %fd2, %fd1, 0d4008000000000000; div.rn.f64 %fd3, %fd4, %fd4; "
                                     "add.f64 %fd2, %fd2, %fd3; st.global.f64 [%rd1], %fd2;\n")
                                 .sum();
  EXPECT_EQ(two.warps, 1u);
  EXPECT_EQ(two.instructions, 69u);
  const SlowPathCounts zero =
      Counted(
          "mov.u32 %r1, %tid.x; cvt.rn.f64.u32 %fd1, %r1; div.rn.f64 %fd2, %fd1, 0d4008000000000000; "
          "sqrt.rn.f64 %fd3, %fd1; add.f64 %fd2, %fd2, %fd3; st.global.f64 [%rd1], %fd2;\n")
          .sum();
  EXPECT_EQ(zero.warps, 2u);
  EXPECT_EQ(zero.instructions, 53u + 14u);  // each the only call of its routine, and the divisor a constant
}

}  // namespace
}  // namespace warpgrind
