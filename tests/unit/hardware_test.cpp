// Every floating-point and matrix instruction against the results of an H200 (tests/hardware).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

#include "../hardware/inputs.h"
#include "device/device.h"
#include "gpu/gpu_model.h"
#include "ptx/parser.h"
#include "read_file.h"

namespace warpgrind {
namespace {

const std::string kCases = WARPGRIND_BUILD "/tests/cases/hardware/";

class Hardware : public testing::TestWithParam<const char*> {
 protected:
  struct Loaded {
    std::shared_ptr<ptx::Module> module;
    device::LoadedModule* on_device = nullptr;
  };

  void start(std::initializer_list<const char*> ptx = {"floating_point.ptx", "matrix.ptx", "consistency.ptx"}) {
    for (const char* file : {"cases.txt", "consistency.txt", "tensor_cores.txt", *ptx.begin()})
      ASSERT_TRUE(std::filesystem::exists(kCases + file))
          << kCases << file << ": the build's target test_cases writes it";
    const auto model = find_gpu_model("h200");
    ASSERT_TRUE(model.ok());
    device::Options options;
    options.workers = 1;
    options.cpu = GetParam();
    gpu_ = std::make_unique<device::Device>(0, **model, options);
    for (const char* file : ptx) {
      auto parsed = ptx::parse(read_file(kCases + file), file);
      ASSERT_TRUE(parsed.ok()) << parsed.error().message << parsed.error().detail;
      auto loaded = gpu_->load(*parsed);
      ASSERT_TRUE(loaded.ok()) << loaded.error().message;
      modules_[file] = {*parsed, *loaded};
    }
  }

  // Returns the output of a case, or nothing after a failure.
  std::optional<hardware::Bytes> run(const hardware::Case& c, const hardware::Bytes (&in)[3]) {
    const Loaded& loaded = modules_.at(c.file);
    std::uint32_t function = 0;
    while (loaded.module->functions[function].name != c.kernel) ++function;
    std::uint64_t pointers[4] = {};
    for (int k = 0; k < 4; ++k) {
      const std::size_t bytes = k < 3 ? in[k].size() : c.output_bytes;
      if (bytes == 0) continue;
      auto memory = gpu_->allocate(bytes);
      if (!memory.ok()) return std::nullopt;
      pointers[k] = *memory;
      if (k < 3)
        std::memcpy(reinterpret_cast<void*>(pointers[k]), in[k].data(), bytes);
      else
        std::memset(reinterpret_cast<void*>(pointers[k]), 0, bytes);
    }
    void* parameters[] = {&pointers[0], &pointers[1], &pointers[2], &pointers[3]};
    const auto block = static_cast<std::uint32_t>(std::min(c.threads, 256));
    device::LaunchConfig config;
    config.grid = {static_cast<std::uint32_t>(c.threads) / block, 1, 1};
    config.block = {block, 1, 1};
    auto result = gpu_->launch(loaded.on_device, function, config, parameters);
    std::optional<hardware::Bytes> out;
    if (!result.ok())
      ADD_FAILURE() << c.instruction << ": " << result.error().message;
    else if (result->fault)
      ADD_FAILURE() << c.instruction << ": " << result->fault->message;
    else {
      const auto* bytes = reinterpret_cast<const unsigned char*>(pointers[3]);
      out.emplace(bytes, bytes + c.output_bytes);
    }
    for (std::uint64_t p : pointers)
      if (p) gpu_->free(p);
    return out;
  }

  std::unique_ptr<device::Device> gpu_;
  std::map<std::string, Loaded> modules_;
};

TEST_P(Hardware, SameBitsAsAnH200) {
  ASSERT_NO_FATAL_FAILURE(start());
  std::ifstream expected(WARPGRIND_TESTS "/hardware/expected.txt");
  unsigned exact = 0, approximate = 0;
  for (const hardware::Case& c : hardware::read_cases(kCases + "cases.txt")) {
    const hardware::Bytes in[3] = {hardware::make_input(c.inputs[0], 0), hardware::make_input(c.inputs[1], 1),
                                   hardware::make_input(c.inputs[2], 2)};
    std::string line;
    if (!c.approximate()) {
      ASSERT_TRUE(std::getline(expected, line));
    }
    const auto out = run(c, in);
    if (!out) continue;
    if (c.approximate()) {
      EXPECT_LE(hardware::worst_error(c, in[0], in[1], *out), 1.0) << c.instruction;
      ++approximate;
    } else {
      EXPECT_EQ(fmt::format("{:016x} {}", hardware::hash(*out), c.instruction), line);
      ++exact;
    }
  }
  EXPECT_EQ(exact, 374u);
  EXPECT_EQ(approximate, 22u);
}

// How tensor cores add, and where they find their operands.
class TensorCores : public Hardware {};
TEST_P(TensorCores, AddAndReadAsAnH200) {
  ASSERT_NO_FATAL_FAILURE(start({"tensor_cores.ptx"}));
  std::ifstream expected(WARPGRIND_TESTS "/hardware/tensor_cores.expected");
  unsigned cases = 0;
  for (const hardware::Case& c : hardware::read_cases(kCases + "tensor_cores.txt")) {
    const hardware::Bytes in[3] = {hardware::make_input(c.inputs[0], 0), hardware::make_input(c.inputs[1], 1),
                                   hardware::make_input(c.inputs[2], 2)};
    std::string line;
    ASSERT_TRUE(std::getline(expected, line));
    const auto out = run(c, in);
    if (!out) continue;
    EXPECT_EQ(fmt::format("{:016x} {}", hardware::hash(*out), c.instruction), line);
    ++cases;
  }
  EXPECT_EQ(cases, 643u);
}

// Forms that the H200 lacks, against forms that it has.
TEST_P(Hardware, NewFormsAgreeWithOldOnes) {
  ASSERT_NO_FATAL_FAILURE(start());
  for (const hardware::Case& c : hardware::read_cases(kCases + "consistency.txt")) {
    const hardware::Bytes in[3] = {hardware::make_input(c.inputs[0], 0), hardware::make_input(c.inputs[1], 1),
                                   hardware::make_input(c.inputs[2], 2)};
    const auto out = run(c, in);
    if (out) {
      EXPECT_EQ(*out, hardware::Bytes(out->size(), 0)) << c.instruction;
    }
  }
}

// The host's own CPU, and one without AVX-512.
INSTANTIATE_TEST_SUITE_P(Cpus, Hardware, testing::Values("", "x86-64-v3"));
// The arithmetic is C++ for AVX2 on each CPU.
INSTANTIATE_TEST_SUITE_P(Cpus, TensorCores, testing::Values("x86-64-v3"));

}  // namespace
}  // namespace warpgrind
