// Runs the instruction families that reference/generate.py wrote into FOLDER on the virtual GPU and compares the bits.
//   run_exec [--cpu NAME] FOLDER [FAMILY...]
// Every kernel runs twice: with operands that differ between lanes, and with operands that are the same in all of them
// (the JIT keeps those in scalar registers). Exit code 1: something differs.
#include <fmt/format.h>

#include <cstring>
#include <string_view>

#include "case_file.h"
#include "device/device.h"
#include "gpu/gpu_model.h"
#include "ptx/parser.h"

namespace {

using namespace warpgrind;

struct Runner {
  device::Device gpu;
  unsigned instructions = 0, failures = 0;

  void fail(const std::string& text) {
    fmt::print(stderr, "{}\n", text);
    ++failures;
  }

  bool run(const ptx::Module& module, device::LoadedModule* loaded, const exec::Kernel& kernel, bool uniform) {
    const char* how = uniform ? "uniform" : "lanes";
    std::uint32_t function = 0;
    while (function < module.functions.size() && module.functions[function].name != kernel.name) ++function;
    if (function == module.functions.size()) return fail(kernel.name + ": not in the PTX file"), false;
    const std::vector<std::uint64_t> input = kernel.input();
    std::vector<std::uint64_t> output(kernel.out.size() * exec::kElements);
    auto in = gpu.allocate(input.size() * 8), out = gpu.allocate(output.size() * 8);
    if (!in.ok() || !out.ok()) return fail("no memory"), false;
    std::memcpy(reinterpret_cast<void*>(*in), input.data(), input.size() * 8);
    std::memset(reinterpret_cast<void*>(*out), 0, output.size() * 8);
    std::uint64_t addresses[] = {*in, *out};
    void* parameters[] = {&addresses[0], &addresses[1]};
    device::LaunchConfig config;
    config.grid.x = uniform ? exec::kElements : 1;
    config.block.x = uniform ? kWarpSize : exec::kElements;
    auto result = gpu.launch(loaded, function, config, parameters);
    std::memcpy(output.data(), reinterpret_cast<void*>(*out), output.size() * 8);
    gpu.free(*in);
    gpu.free(*out);
    if (!result.ok()) return fail(kernel.name + ": " + result.error().message), false;
    if (result->fault) return fail(kernel.name + ": " + result->fault->message), false;
    failures += exec::judge(kernel, output, how, [](const std::string& text) { fmt::print(stderr, "{}\n", text); });
    return true;
  }

  void run_family(const std::string& folder, const std::string& family) {
    const std::string path = folder + "/" + family;
    const std::vector<exec::Kernel> kernels = exec::read_kernels(path + ".txt");
    const std::string text = exec::read_text(path + ".ptx");
    if (kernels.empty() || text.empty())
      return fail(path + ".txt or .ptx is missing or empty: the build's target test_cases writes them");
    std::size_t results = 0;
    for (const exec::Kernel& kernel : kernels) results += kernel.out.size();
    if (const std::size_t least = exec::least_results(family); results < least)
      fail(fmt::format("{}.txt has {} results, at least {} are expected (case_file.h)", path, results, least));
    for (const bool uniform : {false, true}) {
      auto module = ptx::parse(uniform ? exec::uniform_variant(text) : text, family + ".ptx");
      if (!module.ok()) return fail(module.error().message + "\n" + module.error().detail);
      auto loaded = gpu.load(*module);
      if (!loaded.ok()) return fail(loaded.error().message);
      for (const exec::Kernel& kernel : kernels) {
        run(**module, *loaded, kernel, uniform);
        if (!uniform) instructions += static_cast<unsigned>(kernel.out.size());
      }
      modules.push_back(*module);
    }
  }

  std::vector<std::shared_ptr<ptx::Module>> modules;  // must outlive the device's use of them
};

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words;
  device::Options options;
  options.workers = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--cpu" && i + 1 < argc)
      options.cpu = argv[++i];
    else
      words.emplace_back(word);
  }
  if (words.empty()) return fmt::print(stderr, "usage: run_exec [--cpu NAME] FOLDER [FAMILY...]\n"), 2;
  const auto model = find_gpu_model("h200");
  if (!model.ok()) return fmt::print(stderr, "{}\n", model.error().message), 2;
  Runner runner{device::Device(0, **model, options), 0, 0, {}};
  std::vector<std::string> names(words.begin() + 1, words.end());
  if (names.empty()) {
    names = exec::families();
    names.emplace_back("video_by_manual");
  }
  for (const std::string& family : names) runner.run_family(words[0], family);
  fmt::print("{} results of instructions, {} differ\n", runner.instructions, runner.failures);
  return runner.failures != 0;
}
