// Runs each form of tests/data/forms on the virtual GPU and compares it with what a real one gave.
//   run_forms [--full] [--cpu NAME] [--raw FILE] [--write FILE] [--part N OF] CASES TESTS
// CASES: the folder that generate.py wrote. TESTS: this folder, with results.txt, reasons.txt and
// known_differences.txt.
// --full: the code of kernels that ran often, instead of the quick one. --cpu: code for another CPU (LLVM's name).
// --raw: what run_forms_on_gpu wrote; a difference then names its values. --write: a file as RAW of what this run
// gave. --part 1 3: the first third of the kernels.
// Exit code 1: a result differs, a form has neither a result nor a reason, or a known difference is none.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <regex>
#include <set>

#include "cases.h"
#include "device/device.h"
#include "gpu/gpu_model.h"
#include "ptx/parser.h"

namespace {

using namespace warpgrind;

// Lines "KEY | reason".
std::vector<std::pair<std::string, std::string>> read_reasons(const std::string& path) {
  std::vector<std::pair<std::string, std::string>> reasons;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t at = line.find(" | ");
    if (!line.empty() && line[0] != '#' && at != std::string::npos)
      reasons.emplace_back(line.substr(0, at), line.substr(at + 3));
  }
  return reasons;
}

struct Runner {
  Runner(const GpuModel& model, const device::Options& options) : gpu(0, model, options) {}

  device::Device gpu;
  std::string cases, tests;
  std::vector<std::uint64_t> inputs;
  forms::Results expected, seen;
  std::set<std::string> known, different;
  std::ifstream raw;
  bool has_raw = false;
  std::FILE* written = nullptr;
  std::shared_ptr<ptx::Module> module;
  device::LoadedModule* loaded = nullptr;
  std::string loaded_file;
  unsigned results = 0, failures = 0;

  void fail(const std::string& text) {
    fmt::print(stderr, "{}\n", text);
    ++failures;
  }

  bool load(const std::string& file) {
    if (loaded_file == file) return loaded != nullptr;
    loaded_file = file;
    loaded = nullptr;
    auto parsed = ptx::parse(forms::read_text(cases + "/" + file), file);
    if (!parsed.ok()) return fail(parsed.error().message + "\n" + parsed.error().detail), false;
    auto on_device = gpu.load(*parsed);
    if (!on_device.ok()) return fail(on_device.error().message), false;
    modules.push_back(*parsed);
    module = *parsed;
    loaded = *on_device;
    return true;
  }

  // What the kernel wrote, or why it did not.
  std::optional<std::vector<std::uint64_t>> launch(const forms::Kernel& kernel, std::string* why) {
    if (!load(kernel.file)) return *why = "its module was not loaded", std::nullopt;
    std::uint32_t function = 0;
    while (function < module->functions.size() && module->functions[function].name != kernel.name) ++function;
    if (function == module->functions.size()) return *why = "it is not in the PTX file", std::nullopt;
    std::vector<std::uint64_t> output(kernel.words());
    const std::vector<std::uint64_t> memory = forms::memory_of(kernel, inputs);
    auto in = gpu.allocate(inputs.size() * 8), out = gpu.allocate(output.size() * 8),
         space = gpu.allocate(memory.size() * 8);
    if (!in.ok() || !out.ok() || !space.ok()) return *why = "no memory", std::nullopt;
    std::memcpy(reinterpret_cast<void*>(*in), inputs.data(), inputs.size() * 8);
    std::memset(reinterpret_cast<void*>(*out), 0, output.size() * 8);
    std::memcpy(reinterpret_cast<void*>(*space), memory.data(), memory.size() * 8);
    std::uint64_t values[] = {*in, *out, *space, forms::kParameter};
    void* parameters[] = {&values[0], &values[1], &values[2], &values[3]};
    device::LaunchConfig config;
    config.grid.x = static_cast<std::uint32_t>(kernel.blocks);
    config.block.x = static_cast<std::uint32_t>(kernel.threads);
    auto result = gpu.launch(loaded, function, config, parameters);
    std::memcpy(output.data(), reinterpret_cast<void*>(*out), output.size() * 8);
    for (const std::uint64_t address : {*in, *out, *space}) gpu.free(address);
    if (!result.ok()) return *why = result.error().message + " " + result.error().detail, std::nullopt;
    if (result->fault) return *why = result->fault->message, std::nullopt;
    return output;
  }

  void name_values(const forms::Kernel& kernel, const forms::Form& form, const std::vector<std::uint64_t>& output,
                   const std::vector<std::uint64_t>& real) const {
    unsigned reported = 0;
    for (std::size_t i = form.slot * kernel.total(); i < (form.slot + form.slots) * kernel.total(); ++i)
      if (output[i] != real[i] && ++reported <= 4)
        fmt::print(stderr, "    result {} of thread {}: 0x{:x}, expected 0x{:x}\n", i / kernel.total() - form.slot,
                   i % kernel.total(), output[i], real[i]);
    if (reported > 4) fmt::print(stderr, "    ... {} words\n", reported);
  }

  void compare(const forms::Form& form, const std::string& hash, const std::function<void()>& details) {
    forms::add_result(&seen, form, hash);
    const auto result = expected.find(form.text);
    const std::string wanted = result == expected.end() ? "-" : result->second[forms::mode_number(form.mode)];
    ++results;
    if (hash == wanted) return;
    different.insert(form.text);
    if (known.count(form.text)) return;
    fail(fmt::format("{} ({}): {}, a GPU gave {}", form.text, form.mode, hash, wanted));
    details();
  }

  void run(const forms::Kernel& kernel) {
    std::vector<std::uint64_t> real(has_raw ? kernel.words() : 0);
    if (has_raw) raw.read(reinterpret_cast<char*>(real.data()), static_cast<std::streamsize>(real.size() * 8));
    std::string why;
    const auto output = launch(kernel, &why);
    if (written)
      std::fwrite((output ? *output : std::vector<std::uint64_t>(kernel.words())).data(), 8, kernel.words(), written);
    for (const forms::Form& form : kernel.forms)
      compare(form, output ? forms::hex(forms::hash(kernel, form, *output)) : "none", [&] {
        if (!output) fmt::print(stderr, "    {}: {}\n", kernel.name, why);
        if (output && has_raw) name_values(kernel, form, *output, real);
      });
  }

  // Each form that the assembler takes has a result or a reason, not both.
  void check_table(const std::string& table) {
    std::vector<std::pair<std::regex, bool>> reasons;
    const auto lines = read_reasons(tests + "/reasons.txt");
    for (const auto& [expression, reason] : lines) reasons.emplace_back(std::regex("^(" + expression + ")"), false);
    unsigned executed = 0, with_reason = 0;
    std::ifstream file(table);
    std::set<std::string> taken;
    for (std::string line; std::getline(file, line);) {
      if (line[0] != '+') continue;
      const std::string form = line.substr(2);
      taken.insert(form);
      bool has_reason = false;
      for (auto& [expression, used] : reasons)
        if (std::regex_search(form, expression)) has_reason = used = true;
      const bool has_result = expected.count(form) != 0;
      if (has_result == has_reason)
        fail(form +
             (has_result ? ": has a result and a reason to have none" : ": has no result of a GPU and no reason"));
      ++(has_result ? executed : with_reason);
    }
    for (std::size_t k = 0; k < lines.size(); ++k)
      if (!reasons[k].second) fail("reasons.txt: no form is as " + lines[k].first);
    for (const auto& [form, hashes] : expected)
      if (!taken.count(form)) fail("results.txt: the assembler takes no form " + form);
    for (const std::string& form : known)
      if (!expected.count(form)) fail("known_differences.txt: no result of " + form);
    fmt::print("{} forms with results, {} with a reason to have none\n", executed, with_reason);
  }

  std::vector<std::shared_ptr<ptx::Module>> modules;  // must outlive the device's use of them
};

}  // namespace

int main(int argc, char** argv) {
  device::Options options;
  options.workers = 1;
  options.timeout_seconds = 20;
  options.tier = jit::Tier::quick;
  std::vector<std::string> words;
  std::string raw, write;
  std::size_t part = 1, parts = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool more = i + 1 < argc;
    if (word == "--full")
      options.tier.reset();
    else if (word == "--cpu" && more)
      options.cpu = argv[++i];
    else if (word == "--raw" && more)
      raw = argv[++i];
    else if (word == "--write" && more)
      write = argv[++i];
    else if (word == "--part" && i + 2 < argc)
      part = std::strtoul(argv[i + 1], nullptr, 10), parts = std::strtoul(argv[i + 2], nullptr, 10), i += 2;
    else
      words.push_back(word);
  }
  if (words.size() != 2) return fmt::print(stderr, "usage: run_forms [OPTION...] CASES TESTS\n"), 2;
  const auto model = find_gpu_model("h200");
  if (!model.ok()) return fmt::print(stderr, "{}\n", model.error().message), 2;
  Runner runner(**model, options);
  runner.cases = words[0];
  runner.tests = words[1];
  runner.inputs = forms::read_inputs(words[0]);
  runner.expected = forms::read_results(words[1] + "/results.txt");
  runner.has_raw = !raw.empty();
  for (const auto& [form, reason] : read_reasons(words[1] + "/known_differences.txt")) runner.known.insert(form);
  if (!write.empty()) runner.written = std::fopen(write.c_str(), "wb");
  if (!raw.empty()) runner.raw.open(raw, std::ios::binary);
  const std::vector<forms::Kernel> kernels = forms::read_kernels(words[0]);
  if (kernels.empty() || runner.inputs.size() < forms::kMemoryWords)
    return fmt::print(stderr, "{}: no cases: the build's target test_cases writes them\n", words[0]), 2;
  // A part begins with the first mode of its forms, so that it has all modes of each.
  const auto boundary = [&](std::size_t n) {
    std::size_t at = kernels.size() * n / parts;
    while (at < kernels.size() && kernels[at].forms[0].mode != "lanes") ++at;
    return at;
  };
  for (std::size_t k = boundary(part - 1); k < boundary(part); ++k) runner.run(kernels[k]);
  runner.check_table(words[1] + "/../data/forms/forms.txt");
  for (const std::string& form : runner.known)
    if (runner.seen.count(form) && !runner.different.count(form))
      runner.fail("known_differences.txt: agrees now: " + form);
  fmt::print("{} results, {} differ\n", runner.results, runner.failures);
  return runner.failures != 0;
}
