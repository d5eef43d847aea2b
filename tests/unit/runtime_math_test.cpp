// The error bounds of the approximate f32 instructions over bit patterns of all exponents, against double.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "device/device.h"
#include "gpu/gpu_model.h"
#include "ptx/parser.h"

namespace warpgrind {
namespace {

constexpr std::uint32_t kPatterns = 1u << 23,
                        kStep = 509;  // an odd step of nearly 2^32 / kPatterns: all exponents, many mantissas

struct Approximation {
  const char* instruction;
  double (*function)(double);
  double bound;      // relative, or absolute if negative
  double low, high;  // where the bound holds
};

// Bounds of the PTX manual (PTX ISA 9.0, "Floating Point Instructions").
const Approximation kApproximations[] = {
    {"rcp.approx.f32", [](double x) { return 1 / x; }, 0x1p-23, -HUGE_VAL, HUGE_VAL},
    {"sqrt.approx.f32", [](double x) { return std::sqrt(x); }, 0x1p-23, 0, HUGE_VAL},
    {"rsqrt.approx.f32", [](double x) { return 1 / std::sqrt(x); }, 0x1.13p-23, 0, HUGE_VAL},
    {"ex2.approx.f32", [](double x) { return std::exp2(x); }, 0x1p-22, -HUGE_VAL, HUGE_VAL},
    {"lg2.approx.f32", [](double x) { return std::log2(x); }, 0x1p-22, 0, HUGE_VAL},
    {"sin.approx.f32", [](double x) { return std::sin(x); }, -0x1.6a09e6p-21, -6.2831853, 6.2831853},
    {"cos.approx.f32", [](double x) { return std::cos(x); }, -0x1.6a09e6p-21, -6.2831853, 6.2831853},
    {"sin.approx.f32", [](double x) { return std::sin(x); }, -0x1.3b2c47p-15, -314.15926, 314.15926},
    {"cos.approx.f32", [](double x) { return std::cos(x); }, -0x1.3b2c47p-15, -314.15926, 314.15926},
    {"tanh.approx.f32", [](double x) { return std::tanh(x); }, 0x1p-11, -HUGE_VAL, HUGE_VAL},
};

std::string kernel_for(const char* instruction) {
  return fmt::format(R"(.version 8.8
.target sm_90
.address_size 64
.visible .entry approximate(.param .u64 out)
{{
  .reg .b32 %i, %j, %k; .reg .f32 %x; .reg .b64 %a, %o;
  ld.param.u64 %a, [out];
  cvta.to.global.u64 %a, %a;
  mov.u32 %i, %tid.x; mov.u32 %j, %ctaid.x; mov.u32 %k, %ntid.x; mad.lo.u32 %i, %j, %k, %i;
  mul.wide.u32 %o, %i, 4; add.u64 %a, %a, %o;
  mul.lo.u32 %i, %i, {}; mov.b32 %x, %i;
  {} %x, %x;
  st.global.f32 [%a], %x;
  ret;
}}
)",
                     kStep, instruction);
}

double worst_error(const Approximation& a, const float* results) {
  double worst = 0;
  for (std::uint32_t i = 0; i < kPatterns; ++i) {
    const std::uint32_t bits = i * kStep;
    float x;
    std::memcpy(&x, &bits, 4);
    if (!(x >= a.low && x <= a.high)) continue;
    const double exact = a.function(x), r = results[i];
    if (exact == r) continue;
    if (std::isnan(exact) || std::isnan(r)) {
      if (std::isnan(exact) != std::isnan(r)) return HUGE_VAL;
      continue;
    }
    if (std::isinf(r) && std::fabs(exact) > 3.40282346e38) continue;
    // Below the normal range the relative error is that of the smallest normal number.
    const double scale = a.bound < 0 ? 1 : std::fmax(std::fabs(exact), 0x1p-126);
    worst = std::fmax(worst, std::fabs(r - exact) / scale);
  }
  return worst;
}

TEST(RuntimeMath, ApproximationsStayWithinTheirBounds) {
  const auto model = find_gpu_model("h200");
  ASSERT_TRUE(model.ok());
  device::Options options;
  options.workers = 1;
  device::Device gpu(0, **model, options);
  auto memory = gpu.allocate(kPatterns * 4);
  ASSERT_TRUE(memory.ok());
  std::uint64_t out = *memory;
  for (const Approximation& a : kApproximations) {
    auto module = ptx::parse(kernel_for(a.instruction), a.instruction);
    ASSERT_TRUE(module.ok()) << module.error().message << module.error().detail;
    auto loaded = gpu.load(*module);
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    void* parameters[] = {&out};
    device::LaunchConfig config;
    config.grid = {kPatterns / 256, 1, 1};
    config.block = {256, 1, 1};
    auto result = gpu.launch(*loaded, 0, config, parameters);
    ASSERT_TRUE(result.ok()) << result.error().message;
    ASSERT_FALSE(result->fault) << result->fault->message;
    EXPECT_LE(worst_error(a, reinterpret_cast<const float*>(out)), std::fabs(a.bound)) << a.instruction;
  }
}

}  // namespace
}  // namespace warpgrind
