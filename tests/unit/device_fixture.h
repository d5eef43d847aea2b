// A virtual GPU with one PTX module of tests/data/device, for the tests of src/engine/device.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "device/device.h"
#include "ptx/parser.h"
#include "read_file.h"

namespace warpgrind::device {

struct Gpu {
  explicit Gpu(unsigned workers = 1, double timeout = 0, const std::string& file = "kernels.ptx",
               events::Observer* observer = nullptr, bool caches = false) {
    Options options;
    options.caches = caches;
    options.workers = workers;
    options.timeout_seconds = timeout;
    device = std::make_unique<Device>(0, **find_gpu_model("h200"), options);
    if (observer) device->add_observer(observer);
    auto parsed = ptx::parse(read_file(WARPGRIND_TESTS "/data/device/" + file), file);
    EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().message + parsed.error().detail);
    auto loaded = device->load(*parsed);
    EXPECT_TRUE(loaded.ok());
    text = *parsed;
    module = *loaded;
  }
  template <class T>
  T* array(std::size_t n) {
    return reinterpret_cast<T*>(*device->allocate(n * sizeof(T)));
  }
  template <class... A>
  LaunchResult run(const char* kernel, LaunchConfig config, A... arguments) {
    void* pointers[] = {&arguments..., nullptr};
    for (std::uint32_t f = 0; f < text->functions.size(); ++f) {
      if (text->functions[f].name != kernel) continue;
      auto result = device->launch(module, f, config, pointers);
      EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
      return result.ok() ? result.take() : LaunchResult{};
    }
    ADD_FAILURE() << "no kernel " << kernel;
    return {};
  }
  std::unique_ptr<Device> device;
  std::shared_ptr<const ptx::Module> text;
  LoadedModule* module = nullptr;
};

inline LaunchConfig shape(Dim3 grid, Dim3 block, std::uint64_t dynamic = 0) {
  LaunchConfig c;
  c.grid = grid;
  c.block = block;
  c.dynamic_shared = dynamic;
  return c;
}

inline events::SiteCounts total(const LaunchResult& r, events::SiteKind kind) {
  events::SiteCounts sum;
  const auto& sites = r.kernel->facts().sites;
  for (std::size_t s = 0; s < sites.size(); ++s) {
    if (sites[s].kind == kind) sum.add(r.counts.sites[s]);
  }
  return sum;
}

}  // namespace warpgrind::device
