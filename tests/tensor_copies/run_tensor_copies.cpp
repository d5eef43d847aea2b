// Runs tensor copies on the virtual GPU and compares them with what a real one gave, and those of compute capability 10
// with what the manual says (by_manual.py).
//   run_tensor_copies [--full] [--cpu NAME] [--write RESULTS RAW] [--part N OF] CASES TESTS
// CASES: the folder that generate.py wrote. TESTS: this folder, with results.txt and known_differences.txt.
// --full: the code of kernels that ran often, instead of the quick one. --cpu: code for another CPU (LLVM's name).
// --write: files as record_on_gpu writes them. --part 1 3: the first third of the cases.
// Exit code 1: a result differs, a case has no result, or a known difference is none or another.
#include <fmt/format.h>

#include "device/device.h"
#include "gpu/gpu_model.h"
#include "map_of.h"
#include "ptx/parser.h"

namespace {

using namespace warpgrind;
using tensor_copies::Case;
using tensor_copies::Result;

// CUresult of a fault.
int error_of(device::FaultKind kind) {
  switch (kind) {
    case device::FaultKind::misaligned_address:
      return 716;
    case device::FaultKind::illegal_instruction:
      return 715;
    case device::FaultKind::illegal_address:
    case device::FaultKind::shared_out_of_bounds:
      return 700;
    default:
      return 719;
  }
}

struct Runner {
  device::Device gpu;
  std::shared_ptr<ptx::Module> module;
  device::LoadedModule* loaded = nullptr;
  std::uint64_t data = 0, init = 0, out = 0, arguments = 0, map = 0;
  std::map<std::string, std::string> expected, known;
  std::FILE *results = nullptr, *raw = nullptr;
  unsigned failures = 0, cases = 0;

  Runner(const GpuModel& model, const device::Options& options) : gpu(0, model, options) {}

  void fail(const std::string& what) {
    fmt::print(stderr, "{}\n", what);
    ++failures;
  }

  bool open(const std::string& folder, const std::string& file) {
    auto parsed = ptx::parse(hashed_results::read_text(folder + "/" + file), file);
    if (!parsed.ok()) return fail(parsed.error().message + "\n" + parsed.error().detail), false;
    auto on_device = gpu.load(*parsed);
    if (!on_device.ok()) return fail(on_device.error().message), false;
    module = *parsed;
    loaded = *on_device;
    const std::size_t sizes[] = {tensor_copies::kData, tensor_copies::kShared,
                                 2 * (tensor_copies::kShared + tensor_copies::kStatusBytes),
                                 sizeof(tensor_copies::Arguments), 4096};
    std::uint64_t* const addresses[] = {&data, &init, &out, &arguments, &map};
    for (std::size_t k = 0; k < std::size(sizes); ++k) {
      auto memory = gpu.allocate(sizes[k]);
      if (!memory.ok()) return fail("no memory"), false;
      *addresses[k] = *memory;
    }
    return true;
  }

  // Returns why the kernel did not run; empty if it did.
  std::string launch(const Case& c, const std::array<std::byte, kTensorMapBytes>& bytes, int run, Result* result) {
    std::uint32_t function = 0;
    while (function < module->functions.size() && module->functions[function].name != c.kernel) ++function;
    if (function == module->functions.size()) return "it is not in the PTX file";
    const auto memory = tensor_copies::content(c, run, 0, tensor_copies::kData),
               shared = tensor_copies::content(c, run, 1, tensor_copies::kShared);
    const auto host = [](std::uint64_t address) { return reinterpret_cast<std::uint8_t*>(address); };
    std::memcpy(host(data), memory.data(), memory.size());
    std::memcpy(host(init), shared.data(), shared.size());
    std::vector<std::uint8_t> output(2 * (tensor_copies::kShared + tensor_copies::kStatusBytes));
    std::memset(host(out), 0, output.size());
    std::memset(host(map), 0, 4096);
    if (c.has("map") && !c.has("blank")) std::memcpy(host(map) + c.get("map"), bytes.data(), bytes.size());
    const tensor_copies::Arguments a = tensor_copies::arguments_of(c, data, init, out, map);
    std::memcpy(host(arguments), &a, sizeof a);
    auto by_value = bytes;
    void* parameters[] = {by_value.data(), &arguments};
    device::LaunchConfig config;
    config.grid.x = static_cast<std::uint32_t>(c.blocks());
    config.cluster.x = config.grid.x;
    config.block.x = 32;
    auto launched = gpu.launch(loaded, function, config, parameters);
    if (!launched.ok()) return launched.error().message + " " + launched.error().detail;
    if (launched->fault) {
      result->error = error_of(launched->fault->kind);
      return launched->fault->message;
    }
    std::memcpy(output.data(), host(out), output.size());
    tensor_copies::read_output(c, run, output, std::vector<std::uint8_t>(host(data), host(data) + tensor_copies::kData),
                               result);
    return "";
  }

  Result result_of(const Case& c, std::string* why) {
    Result result;
    const auto bytes = c.has("dims")
                           ? tensor_map_bytes(tensor_copies::map_of(
                                 c, data + tensor_copies::number_of<std::uint64_t>(c, "base", 0, tensor_copies::kBase)))
                           : std::array<std::byte, kTensorMapBytes>{};
    for (int run = 0; run < c.runs() && why->empty(); ++run) *why = launch(c, bytes, run, &result);
    return result;
  }

  // Pairs of lines: a case and what it does.
  void run_by_manual(const std::string& path) {
    std::ifstream file(path);
    for (std::string text, picture; std::getline(file, text) && std::getline(file, picture);) {
      const Case c = tensor_copies::parse_case(text);
      std::string why;
      const std::string got = tensor_copies::picture(c, result_of(c, &why)), wanted = "done 1 1 |" + picture;
      ++cases;
      if (!why.empty() || got != wanted)
        fail(fmt::format("{}\n    {}{}\n    the manual: {}", text, got, why.empty() ? "" : " (" + why + ")", wanted));
    }
  }

  void run(const Case& c) {
    std::string why;
    const Result result = result_of(c, &why);
    const std::string got = tensor_copies::summary(c, result);
    if (results) fmt::print(results, "{} {}\n", got, c.text);
    if (raw) fmt::print(raw, "{}\n  {} {}\n", c.text, tensor_copies::picture(c, result), why);
    ++cases;
    const auto found = expected.find(c.text);
    const std::string wanted = found == expected.end() ? "nothing" : found->second;
    if (wanted.starts_with("encode_")) return;  // the driver of a real one refuses the map
    const auto different = known.find(c.text);
    if (different == known.end() ? got == wanted : got == different->second && got != wanted) return;
    fail(fmt::format("{}\n    {}{}, a GPU gave {}", c.text, got, why.empty() ? "" : " (" + why + ")", wanted));
  }
};

}  // namespace

int main(int argc, char** argv) {
  device::Options options;
  options.workers = 1;
  options.timeout_seconds = 20;
  options.tier = jit::Tier::quick;
  std::vector<std::string> words;
  std::string results, raw;
  std::size_t part = 1, parts = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--full")
      options.tier.reset();
    else if (word == "--cpu" && i + 1 < argc)
      options.cpu = argv[++i];
    else if (word == "--write" && i + 2 < argc)
      results = argv[i + 1], raw = argv[i + 2], i += 2;
    else if (word == "--part" && i + 2 < argc)
      part = std::strtoul(argv[i + 1], nullptr, 10), parts = std::strtoul(argv[i + 2], nullptr, 10), i += 2;
    else
      words.push_back(word);
  }
  if (words.size() != 2) return fmt::print(stderr, "usage: run_tensor_copies [OPTION...] CASES TESTS\n"), 2;
  const auto model = find_gpu_model("h200");
  if (!model.ok()) return fmt::print(stderr, "{}\n", model.error().message), 2;
  Runner runner(**model, options);
  const std::vector<Case> cases = tensor_copies::read_cases(words[0] + "/cases.txt");
  if (cases.empty())
    return fmt::print(stderr, "{}: no cases: the build's target test_cases writes them\n", words[0]), 2;
  runner.expected = tensor_copies::read_results(words[1] + "/results.txt");
  runner.known = tensor_copies::read_results(words[1] + "/known_differences.txt");
  if (!results.empty()) runner.results = std::fopen(results.c_str(), "w");
  if (!raw.empty()) runner.raw = std::fopen(raw.c_str(), "w");
  if (!runner.open(words[0], "kernels.ptx")) return 1;
  for (std::size_t i = cases.size() * (part - 1) / parts; i < cases.size() * part / parts; ++i) runner.run(cases[i]);
  if (part == 1) {
    const auto newer = find_gpu_model("b200");
    if (!newer.ok()) return fmt::print(stderr, "{}\n", newer.error().message), 2;
    Runner by_manual(**newer, options);
    if (!by_manual.open(words[0], "kernels_100.ptx")) return 1;
    by_manual.run_by_manual(words[0] + "/by_manual.txt");
    runner.cases += by_manual.cases;
    runner.failures += by_manual.failures;
  }
  fmt::print("{} cases, {} differ\n", runner.cases, runner.failures);
  return runner.failures != 0;
}
