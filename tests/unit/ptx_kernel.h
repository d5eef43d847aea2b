// One small PTX kernel that runs through the whole device, for the tests of src/engine/device.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "device/device.h"
#include "ptx/parser.h"

namespace warpgrind::device {

// %rd3: the address of the thread's own word.
inline const std::string kOwnWord = "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2; ";

// A kernel `k(.u64 data)` with the given body; %rd1 is the pointer, %r1 the thread.
struct Kernel {
  explicit Kernel(const std::string& body, unsigned workers = 1, events::Observer* observer = nullptr,
                  const std::string& module_text = "", const std::string& cpu = "", bool caches = false) {
    Options options;
    options.caches = caches;
    options.cpu = cpu;
    options.workers = workers;
    options.timeout_seconds = 600;  // in case a launch hangs
    device = std::make_unique<Device>(0, **find_gpu_model("h200"), options);
    if (observer) device->add_observer(observer);
    const std::string text =
        ".version 8.6\n.target sm_90\n.address_size 64\n" + module_text +
        "\n.visible .entry k(.param .u64 data)\n{\n"
        ".reg .b16 %h<32>; .reg .b32 %r<64>; .reg .b64 %rd<32>; .reg .pred %p<16>; .reg .f32 %f<32>; .reg .f64 "
        "%fd<8>;\n"
        ".shared .align 16 .b8 memory[4096];\n"
        "ld.param.u64 %rd1, [data];\nmov.u32 %r1, %tid.x;\n" +
        body + "\nret;\n}\n";
    auto parsed = ptx::parse(text, "test.ptx");
    EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().message + parsed.error().detail);
    if (!parsed.ok()) return;
    module = *parsed;
    auto loaded = device->load(module);
    EXPECT_TRUE(loaded.ok());
    if (loaded.ok()) handle = *loaded;
    data = reinterpret_cast<std::uint32_t*>(*device->allocate(kBytes));
  }
  // Returns the result of a launch that may fail.
  LaunchResult try_run(unsigned threads, unsigned blocks = 1) {
    LaunchConfig config;
    config.grid = {blocks, 1, 1};
    config.block = {threads, 1, 1};
    return try_run(config);
  }
  LaunchResult try_run(const LaunchConfig& config) {
    if (!handle) return {};
    std::uint64_t address = reinterpret_cast<std::uint64_t>(data);
    void* parameters[] = {&address, nullptr};
    std::uint32_t entry = 0;
    while (!module->functions[entry].is_entry) ++entry;
    auto result = device->launch(handle, entry, config, parameters);
    EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
    return result.ok() ? result.take() : LaunchResult{};
  }
  LaunchResult run(unsigned threads, unsigned blocks = 1) {
    LaunchResult result = try_run(threads, blocks);
    EXPECT_FALSE(result.fault) << result.fault->message;
    return result;
  }
  LaunchResult run(const LaunchConfig& config) {
    LaunchResult result = try_run(config);
    EXPECT_FALSE(result.fault) << result.fault->message;
    return result;
  }
  static constexpr std::uint64_t kBytes = 1 << 16;
  std::unique_ptr<Device> device;
  std::shared_ptr<const ptx::Module> module;
  LoadedModule* handle = nullptr;
  std::uint32_t* data = nullptr;
};

inline const events::SiteCounts* counts_at(const LaunchResult& r, events::SiteKind kind) {
  for (std::size_t s = 0; s < r.counts.sites.size(); ++s)
    if (r.kernel->facts().sites[s].kind == kind) return &r.counts.sites[s];
  return nullptr;
}

}  // namespace warpgrind::device
