// The programs of generate.py on the virtual GPU, compared with what a real one gave.
//   run_random [--raw FILE] [--print THREAD] RESULTS FILE.ptx...
// With --raw, FILE are the rows that run_random_on_gpu wrote: then a difference names thread and values. --print
// shows every row of one thread, beside the line of the PTX that wrote it.
#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "cases.h"
#include "device/device.h"
#include "gpu/gpu_model.h"
#include "ptx/parser.h"

namespace {

using namespace warpgrind;
using namespace random_programs;

struct Runner {
  device::Device gpu;
  Results expected;
  std::FILE* raw = nullptr;
  std::uint64_t in = 0;
  std::optional<std::size_t> print;
  std::map<unsigned, std::string> known_differences;
  unsigned cases = 0, failures = 0, left_out = 0;

  void fail(const std::string& text) {
    fmt::print(stderr, "{}\n", text);
    ++failures;
  }

  // The first values of a row that differ.
  void name_values(const Case& c, unsigned row, const std::vector<std::uint64_t>& output,
                   const std::vector<std::uint64_t>& real) const {
    unsigned told = 0;
    for (std::size_t t = 0; t < c.threads() && told < 4; ++t) {
      const std::size_t at = row * c.threads() + t;
      if (output[at] != real[at] && ++told)
        fmt::print(stderr, "    thread {}: 0x{:x}, expected 0x{:x}\n", t, output[at], real[at]);
    }
  }

  void compare(const Case& c, const std::vector<std::uint64_t>& output) {
    std::vector<std::uint64_t> real;
    if (raw) {
      real.resize(c.threads() * c.rows);
      if (std::fread(real.data(), 8, real.size(), raw) != real.size()) return fail("the file of rows is too short");
    }
    const auto known = expected.find(c.number);
    if (known == expected.end()) return fail(fmt::format("{}: no result of a GPU is known", c.name()));
    const std::vector<std::uint32_t> hashes = row_hashes(c, output);
    if (known_differences.contains(c.number)) return void(++left_out);
    if (hashes.size() != known->second.size())
      return fail(fmt::format("{}: {} rows, expected {}", c.name(), hashes.size(), known->second.size()));
    for (unsigned row = 0; row < c.rows; ++row) {
      if (hashes[row] == known->second[row]) continue;
      fail(fmt::format("{}: row {} is not what the GPU gave (block {}x{}, grid {})", c.name(), row, c.x, c.y, c.grid));
      if (raw) name_values(c, row, output, real);
      return;  // later rows mostly follow from it
    }
  }

  // `text` holds, for each row of each program, the line "... // row N instruction".
  void print_thread(const Case& c, const std::string& text, const std::vector<std::uint64_t>& output) const {
    std::size_t at = text.find(".entry " + c.name() + "(");
    for (unsigned row = 0; row < c.rows; ++row) {
      const std::string mark = "// row " + std::to_string(row);
      at = text.find(mark, at);
      const std::size_t begin = at + mark.size(), end = text.find('\n', at);
      fmt::print("{} row {} = 0x{:x} {}\n", c.name(), row, output[row * c.threads() + *print],
                 text.substr(begin, end - begin));
      at = end;
    }
  }

  void run(const ptx::Module& module, device::LoadedModule* loaded, const std::string& text, const Case& c) {
    std::uint32_t function = 0;
    while (function < module.functions.size() && module.functions[function].name != c.name()) ++function;
    if (function == module.functions.size()) return fail(c.name() + ": not in the PTX file");
    std::vector<std::uint64_t> output(c.bytes() / 8);
    auto out = gpu.allocate(c.bytes());
    if (!out.ok()) return fail(out.error().message);
    std::memset(reinterpret_cast<void*>(*out), 0, c.bytes());
    std::uint64_t addresses[] = {in, *out};
    void* parameters[] = {&addresses[0], &addresses[1]};
    device::LaunchConfig config;
    config.grid.x = c.grid;
    config.block = {c.x, c.y, 1};
    auto result = gpu.launch(loaded, function, config, parameters);
    std::memcpy(output.data(), reinterpret_cast<void*>(*out), c.bytes());
    gpu.free(*out);
    ++cases;
    if (!result.ok()) return fail(fmt::format("{}: {}", c.name(), result.error().message));
    if (result->fault) return fail(fmt::format("{}: {}", c.name(), result->fault->message));
    if (print && *print < c.threads()) print_thread(c, text, output);
    compare(c, output);
  }
};

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  device::Options options;
  options.workers = 1;
  const auto model = find_gpu_model("h200");
  if (!model.ok()) return fmt::print(stderr, "{}\n", model.error().message), 2;
  Runner runner{device::Device(0, **model, options), {}, nullptr, 0, {}, {}, 0, 0, 0};
  while (words.size() > 2 && words[0].starts_with("--")) {
    if (words[0] == "--raw") runner.raw = std::fopen(words[1].c_str(), "rb");
    if (words[0] == "--print") runner.print = std::strtoull(words[1].c_str(), nullptr, 10);
    words.erase(words.begin(), words.begin() + 2);
  }
  if (words.size() < 2)
    return fmt::print(stderr, "usage: run_random [--raw FILE] [--print THREAD] RESULTS FILE.ptx...\n"), 2;
  runner.expected = read_results(words[0]);
  runner.known_differences = read_reasons(std::filesystem::path(words[0]).replace_filename("known_differences.txt"));
  const std::vector<std::uint64_t> data = input();
  auto in = runner.gpu.allocate(data.size() * 8);
  if (!in.ok()) return fmt::print(stderr, "{}\n", in.error().message), 2;
  std::memcpy(reinterpret_cast<void*>(*in), data.data(), data.size() * 8);
  runner.in = *in;
  std::vector<std::shared_ptr<ptx::Module>> modules;  // must outlive the device's use of them
  for (std::size_t k = 1; k < words.size(); ++k) {
    const std::string text = read_text(words[k]);
    auto module = ptx::parse(text, words[k]);
    if (!module.ok()) return fmt::print(stderr, "{}\n{}\n", module.error().message, module.error().detail), 2;
    auto loaded = runner.gpu.load(*module);
    if (!loaded.ok()) return fmt::print(stderr, "{}\n", loaded.error().message), 2;
    for (const Case& c : cases_of(text)) runner.run(**module, *loaded, text, c);
    modules.push_back(*module);
  }
  fmt::print("{} random programs, {} differ, {} left out (known_differences.txt)\n", runner.cases, runner.failures,
             runner.left_out);
  return runner.failures != 0 || runner.cases == 0;
}
