// The approximate f32 instructions: bit for bit against an H200, and within the bounds of the PTX manual for bit
// patterns of all exponents, compared with double.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>

#include "device/device.h"
#include "gpu/gpu_model.h"
#include "jit/calls/multi_function.h"
#include "ptx/parser.h"

namespace warpgrind {
namespace {

constexpr std::uint32_t kPatterns = 1u << 23,
                        kStep = 509;  // an odd step of nearly 2^32 / kPatterns: all exponents, many mantissas

struct Approximation {
  const char* instruction;
  double (*function)(double);
  double bound;      // relative, or absolute if negative
  double low, high;  // range in which the bound holds
};

// Bounds of the PTX manual (PTX ISA 9.0, "Floating Point Instructions"). Within one turn it gives 2^-20.5 for cos and
// sin, although the error of an H200 is 2^-20.45.
const Approximation kApproximations[] = {
    {"rcp.approx.f32", [](double x) { return 1 / x; }, 0x1p-23, -HUGE_VAL, HUGE_VAL},
    {"sqrt.approx.f32", [](double x) { return std::sqrt(x); }, 0x1p-23, 0, HUGE_VAL},
    {"rsqrt.approx.f32", [](double x) { return 1 / std::sqrt(x); }, 0x1.13p-23, 0, HUGE_VAL},
    {"ex2.approx.f32", [](double x) { return std::exp2(x); }, 0x1p-22, -HUGE_VAL, HUGE_VAL},
    {"lg2.approx.f32", [](double x) { return std::log2(x); }, 0x1p-22, 0, 0.5},
    {"lg2.approx.f32", [](double x) { return std::log2(x); }, -0x1p-22, 0.5, 2},
    {"lg2.approx.f32", [](double x) { return std::log2(x); }, 0x1p-22, 2, HUGE_VAL},
    {"sin.approx.f32", [](double x) { return std::sin(x); }, -0x1.8p-21, -6.2831853, 6.2831853},
    {"cos.approx.f32", [](double x) { return std::cos(x); }, -0x1.8p-21, -6.2831853, 6.2831853},
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

// ---- Against an H200

struct Record {
  std::string instruction, inputs;
  std::uint32_t first = 0, step = 0, count = 0;
  std::uint64_t hash = 0;
};

std::vector<Record> records() {
  std::vector<Record> all;
  std::ifstream file(WARPGRIND_TESTS "/hardware/multi_function.txt");
  for (std::string line; std::getline(file, line);) {
    Record r;
    std::istringstream words(line);
    if (line.starts_with('#')) continue;
    words >> r.instruction >> r.inputs >> std::hex >> r.first >> std::dec >> r.step >> r.count >> std::hex >> r.hash;
    all.push_back(r);
  }
  return all;
}

std::uint32_t noise(std::uint32_t i) {  // splitmix64
  std::uint64_t z = (std::uint64_t{i} + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return static_cast<std::uint32_t>(z >> 32);
}

// Every other one of the pairs lies between 2^-15 and about 2.
std::uint32_t input(const Record& r, std::uint32_t i, unsigned source) {
  if (r.inputs == "sweep") return r.first + i * r.step;
  if (r.inputs == "noise") return noise(i);
  const std::uint32_t bits = noise(2 * i + source);
  return i & 1 ? (bits & 0x87ffffffu) | 0x38000000u : bits;
}

std::string kernel_of_inputs(const Record& r) {
  return fmt::format(R"(.version 8.8
.target sm_90
.address_size 64
.visible .entry approximate(.param .u64 in, .param .u64 out, .param .u32 count)
{{
  .reg .pred %p; .reg .b32 %i, %j, %k; .reg .f32 %x, %y; .reg .b64 %a, %b, %o;
  ld.param.u64 %a, [in]; ld.param.u64 %b, [out];
  mov.u32 %i, %tid.x; mov.u32 %j, %ctaid.x; mov.u32 %k, %ntid.x; mad.lo.u32 %i, %j, %k, %i;
  ld.param.u32 %k, [count]; setp.ge.u32 %p, %i, %k; @%p ret;
  mul.wide.u32 %o, %i, 8; add.u64 %a, %a, %o; mul.wide.u32 %o, %i, 4; add.u64 %b, %b, %o;
  ld.global.v2.f32 {{%x, %y}}, [%a];
  {} %x, %x{};
  st.global.f32 [%b], %x;
  ret;
}}
)",
                     r.instruction, r.inputs == "pairs" ? ", %y" : "");
}

TEST(RuntimeMath, ApproximationsAreAnH200s) {
  const auto model = find_gpu_model("h200");
  ASSERT_TRUE(model.ok());
  device::Device gpu(0, **model, {});
  constexpr std::uint32_t kMost = 1u << 23;
  const auto inputs = gpu.allocate(std::uint64_t{kMost} * 8), outputs = gpu.allocate(std::uint64_t{kMost} * 4);
  ASSERT_TRUE(inputs.ok() && outputs.ok());
  std::uint64_t in = *inputs, out = *outputs;
  const std::vector<Record> all = records();
  ASSERT_FALSE(all.empty());
  for (const Record& r : all) {
    SCOPED_TRACE(fmt::format("{} {} {:08x} {}", r.instruction, r.inputs, r.first, r.step));
    ASSERT_LE(r.count, kMost);
    auto* words = reinterpret_cast<std::uint32_t*>(in);
    for (std::uint32_t i = 0; i < r.count; ++i)
      for (unsigned source = 0; source < 2; ++source) words[2 * i + source] = input(r, i, source);
    auto module = ptx::parse(kernel_of_inputs(r), r.instruction);
    ASSERT_TRUE(module.ok()) << module.error().message << module.error().detail;
    auto loaded = gpu.load(*module);
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    std::uint32_t count = r.count;
    void* parameters[] = {&in, &out, &count};
    device::LaunchConfig config;
    config.grid = {(r.count + 255) / 256, 1, 1};
    config.block = {256, 1, 1};
    auto result = gpu.launch(*loaded, 0, config, parameters);
    ASSERT_TRUE(result.ok()) << result.error().message;
    ASSERT_FALSE(result->fault) << result->fault->message;
    std::uint64_t hash = 14695981039346656037u;
    const auto* results = reinterpret_cast<const std::uint32_t*>(out);
    for (std::uint32_t i = 0; i < r.count; ++i) hash = (hash ^ results[i]) * 1099511628211u;
    EXPECT_EQ(hash, r.hash);
  }
}

// ---- The same in all code variants

TEST(RuntimeMath, MultiFunctionIsTheSameWithAnyVectorExtension) {
  using jit::MultiFunction;
  using jit::VectorExtension;
  if (!jit::has(VectorExtension::avx512)) GTEST_SKIP() << "this CPU has no AVX-512";
  for (const auto f :
       {MultiFunction::reciprocal, MultiFunction::reciprocal_root, MultiFunction::root, MultiFunction::logarithm,
        MultiFunction::exponential, MultiFunction::sine, MultiFunction::cosine}) {
    std::uint32_t in[kWarpSize], narrow[kWarpSize], wide[kWarpSize];
    for (std::uint32_t i = 0; i < kPatterns; i += kWarpSize) {
      for (std::uint32_t l = 0; l < kWarpSize; ++l) in[l] = (i + l) * kStep;
      const auto* x = reinterpret_cast<const float*>(in);
      jit::multi_function(f, VectorExtension::avx2, reinterpret_cast<float*>(narrow), x);
      jit::multi_function(f, VectorExtension::avx512, reinterpret_cast<float*>(wide), x);
      ASSERT_EQ(std::memcmp(narrow, wide, sizeof wide), 0) << static_cast<int>(f) << " from " << in[0];
    }
  }
}

// A value that is the same in all lanes is computed once.
TEST(RuntimeMath, UniformApproximationsAreThoseOfLanes) {
  constexpr std::uint32_t kStride = 128, kValues = kPatterns / kStride;
  const auto model = find_gpu_model("h200");
  ASSERT_TRUE(model.ok());
  device::Device gpu(0, **model, {});
  const auto of_lanes = gpu.allocate(kPatterns * 4), of_blocks = gpu.allocate(kValues * 4);
  ASSERT_TRUE(of_lanes.ok() && of_blocks.ok());
  const auto run = [&](const std::string& text, std::uint64_t out, std::uint32_t blocks, std::uint32_t threads) {
    auto module = ptx::parse(text, "approximate");
    ASSERT_TRUE(module.ok()) << module.error().message << module.error().detail;
    auto loaded = gpu.load(*module);
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    void* parameters[] = {&out};
    device::LaunchConfig config;
    config.grid = {blocks, 1, 1};
    config.block = {threads, 1, 1};
    auto result = gpu.launch(*loaded, 0, config, parameters);
    ASSERT_TRUE(result.ok()) << result.error().message;
    ASSERT_FALSE(result->fault) << result->fault->message;
  };
  for (const char* instruction : {"rcp.approx.f32", "rcp.approx.ftz.f32", "sqrt.approx.f32", "rsqrt.approx.f32",
                                  "ex2.approx.f32", "lg2.approx.f32", "sin.approx.f32", "cos.approx.f32"}) {
    run(kernel_for(instruction), *of_lanes, kPatterns / 256, 256);
    run(fmt::format(R"(.version 8.8
.target sm_90
.address_size 64
.visible .entry uniform(.param .u64 out)
{{
  .reg .b32 %i; .reg .f32 %x; .reg .b64 %a, %o;
  ld.param.u64 %a, [out];
  mov.u32 %i, %ctaid.x; mul.wide.u32 %o, %i, 4; add.u64 %a, %a, %o;
  mul.lo.u32 %i, %i, {}; mov.b32 %x, %i;
  {} %x, %x;
  st.global.f32 [%a], %x;
  ret;
}}
)",
                    kStride * kStep, instruction),
        *of_blocks, kValues, 32);
    const auto* lanes = reinterpret_cast<const std::uint32_t*>(*of_lanes);
    const auto* blocks = reinterpret_cast<const std::uint32_t*>(*of_blocks);
    for (std::uint32_t i = 0; i < kValues; ++i)
      ASSERT_EQ(blocks[i], lanes[i * kStride]) << instruction << " of " << i * kStride * kStep;
  }
}

}  // namespace
}  // namespace warpgrind
