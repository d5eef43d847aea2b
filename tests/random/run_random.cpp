// The programs of generate.py on the virtual GPU, compared with what a real one gave.
//   run_random [--quick] [--cpu NAME] [--raw FILE] [--write FILE] [--print THREAD] RESULTS FILE.ptx...
// --quick: the quick code of new kernels (jit/compile/tier.h). --cpu makes code for another CPU (LLVM's name:
// x86-64-v3, znver4). With --raw, FILE are the rows that run_random_on_gpu wrote: then a difference names thread and
// values. --write writes what run_random_on_gpu does. --print shows every row of one thread, beside the line of the PTX
// that wrote it. What explained_differences.txt names is replaced first.
#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "../tensor_copies/map_of.h"
#include "cases.h"
#include "device/device.h"
#include "device/memory/texture.h"
#include "gpu/gpu_model.h"
#include "ptx/parser.h"

namespace {

using namespace warpgrind;
using namespace random_programs;

using TensorMapBytes = std::array<std::byte, kTensorMapBytes>;

device::ChannelFormat format_of(const Image& image) {
  using Kind = device::ChannelFormat::Kind;
  device::ChannelFormat format;
  for (int k = 0; k < image.channels; ++k) format.bits[k] = static_cast<std::uint8_t>(image.bits);
  format.kind = image.kind == 'f' ? Kind::floating : image.kind == 's' ? Kind::signed_integer : Kind::unsigned_integer;
  return format;
}

// A texture or surface object; what lies in linear memory gets an allocation, which `memory` names.
std::uint64_t make_object(device::Device& gpu, const Image& image, std::uint64_t seed,
                          std::vector<std::uint64_t>* memory) {
  const std::vector<std::uint8_t> data = texels(image, seed);
  device::TextureResource resource;
  if (image.in_linear_memory()) {
    const auto at = gpu.allocate(data.size());
    if (!at.ok()) return 0;
    memory->push_back(*at);
    std::memcpy(reinterpret_cast<void*>(*at), data.data(), data.size());
    const bool pitched = image.geometry == "pitched";
    resource.kind = pitched ? device::TextureResource::Kind::pitched : device::TextureResource::Kind::linear;
    resource.address = *at;
    resource.format = format_of(image);
    resource.width = static_cast<std::uint64_t>(image.width);
    resource.height = pitched ? image.rows() : 0;
    resource.pitch = pitched ? image.row_bytes() : 0;
  } else {
    device::ArrayShape shape;
    shape.width = static_cast<std::uint64_t>(image.width);
    shape.height = static_cast<std::uint64_t>(image.height);
    shape.depth = static_cast<std::uint64_t>(image.depth);
    shape.layered = image.layered();
    shape.cubemap = image.cube();
    shape.gather = image.gather();
    shape.surface = image.surface();
    const std::shared_ptr<device::Array> array = device::Array::create(format_of(image), shape);
    if (!array) return 0;
    std::memcpy(array->data(), data.data(), data.size());
    if (image.surface()) return device::create_surface(array);
    resource.array = array;
  }
  device::TextureDescription description;
  for (std::size_t d = 0; d < 3; ++d) description.address[d] = static_cast<device::AddressMode>(image.address[d]);
  description.linear_filter = image.linear;
  description.normalized_float = image.normalized_float;
  description.normalized_coordinates = image.normalized;
  description.srgb = image.srgb;
  description.border = {kBorder[0], kBorder[1], kBorder[2], kBorder[3]};
  return device::create_texture(resource, description);
}

struct Runner {
  device::Device gpu;
  Results expected;
  std::FILE* raw = nullptr;
  std::uint64_t in = 0;
  std::optional<std::size_t> print;
  std::FILE* write = nullptr;
  unsigned cases = 0, failures = 0, not_recorded = 0;

  void fail(const std::string& text) {
    fmt::print(stderr, "{}\n", text);
    ++failures;
  }

  // The first values of a row that differ.
  void name_values(const Case& c, unsigned row, const std::vector<std::uint64_t>& output,
                   const std::vector<std::uint64_t>& real) const {
    unsigned reported = 0;
    for (std::size_t t = 0; t < c.threads() && reported < 4; ++t) {
      const std::size_t at = row * c.threads() + t;
      if (output[at] != real[at] && ++reported)
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
    if (hashes.size() != known->second.size())
      return fail(fmt::format("{}: {} rows, expected {}", c.name(), hashes.size(), known->second.size()));
    unsigned row = 0;
    while (row < c.rows && hashes[row] == known->second[row]) ++row;
    if (row < c.rows)  // later rows mostly follow from it
      fail(fmt::format("{}: row {} is not what the GPU gave (block {}x{}, grid {})", c.name(), row, c.x, c.y, c.grid));
    if (raw && row < c.rows) name_values(c, row, output, real);
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

  // Memory for copies and the table of tensor maps as arguments; gives the maps that are parameters themselves.
  std::vector<TensorMapBytes> prepare_copies(const Case& c, std::vector<std::uint64_t>* arguments,
                                             std::vector<std::uint64_t>* memory) {
    const std::vector<std::uint8_t> copied = c.copied();
    const auto data = gpu.allocate(copied.size()), table = gpu.allocate((c.maps.size() + 1) * c.grid * kMapBytes);
    if (!data.ok() || !table.ok()) return fail("no memory"), std::vector<TensorMapBytes>();
    std::memcpy(reinterpret_cast<void*>(*data), copied.data(), copied.size());
    std::vector<TensorMapBytes> parameters;
    std::uint64_t at = *table;
    for (const TensorMapLine& map : c.maps) {
      TensorMapBytes bytes{};
      for (unsigned block = 0; block < c.grid; ++block, at += kMapBytes) {
        bytes = tensor_map_bytes(tensor_copies::map_of(map.keys, c.tensor(map, *data, block)));
        std::memcpy(reinterpret_cast<void*>(at), bytes.data(), kMapBytes);
      }
      if (!map.written) parameters.push_back(bytes);
    }
    for (const std::uint64_t address : {*data, *table}) {
      arguments->push_back(address);
      memory->push_back(address);
    }
    return parameters;
  }

  void run(const ptx::Module& module, device::LoadedModule* loaded, const std::string& text, const Case& c) {
    std::uint32_t function = 0;
    while (function < module.functions.size() && module.functions[function].name != c.name()) ++function;
    if (function == module.functions.size()) return fail(c.name() + ": not in the PTX file");
    std::vector<std::uint64_t> output(c.bytes() / 8);
    auto out = gpu.allocate(c.bytes());
    if (!out.ok()) return fail(out.error().message);
    std::memset(reinterpret_cast<void*>(*out), 0, c.bytes());
    std::vector<std::uint64_t> arguments{in, *out}, memory;
    for (std::size_t k = 0; k < c.images.size(); ++k)
      arguments.push_back(make_object(gpu, c.images[k], image_seed(c, k), &memory));
    std::vector<TensorMapBytes> maps;
    if (c.copies) maps = prepare_copies(c, &arguments, &memory);
    std::vector<void*> parameters;
    for (std::uint64_t& argument : arguments) parameters.push_back(&argument);
    for (TensorMapBytes& map : maps) parameters.push_back(map.data());
    device::LaunchConfig config;
    config.grid.x = c.grid;
    config.cluster.x = c.cluster;
    config.block = {c.x, c.y, 1};
    auto result = gpu.launch(loaded, function, config, parameters.data());
    std::memcpy(output.data(), reinterpret_cast<void*>(*out), c.bytes());
    gpu.free(*out);
    for (const std::uint64_t at : memory) gpu.free(at);
    for (std::size_t k = 0; k < c.images.size(); ++k)
      c.images[k].surface() ? device::destroy_surface(arguments[2 + k]) : device::destroy_texture(arguments[2 + k]);
    ++cases;
    if (!result.ok()) return fail(fmt::format("{}: {}", c.name(), result.error().message));
    if (result->fault) return fail(fmt::format("{}: {}", c.name(), result->fault->message));
    if (print && *print < c.threads()) print_thread(c, text, output);
    if (write) write_line(write, c, row_hashes(c, output));
    compare(c, output);
  }
};

struct Replacement {
  unsigned number = 0;
  std::string instruction, instead;
};

// Lines "number | instruction | what runs instead"; others are comments.
std::vector<Replacement> read_replacements(const std::string& path) {
  std::vector<Replacement> all;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(" | "), second = line.find(" | ", first + 1);
    if (line.starts_with('#') || second == std::string::npos) continue;
    all.push_back({static_cast<unsigned>(std::strtoul(line.c_str(), nullptr, 10)),
                   line.substr(first + 3, second - first - 3), line.substr(second + 3)});
  }
  return all;
}

// False: the program is in the text, but not the instruction.
bool replace(const Replacement& r, std::string* text, unsigned* replaced) {
  const std::size_t begin = text->find(fmt::format("// case {}: ", r.number));
  if (begin == std::string::npos) return true;
  const std::size_t at = text->find(r.instruction, begin);
  if (at == std::string::npos || at > text->find("// case ", begin + 1)) return false;
  text->replace(at, r.instruction.size(), r.instead);
  ++*replaced;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  device::Options options;
  options.workers = 1;
  const auto model = find_gpu_model("h200");
  if (!model.ok()) return fmt::print(stderr, "{}\n", model.error().message), 2;
  if (words.size() > 2 && words[0] == "--quick") {
    options.tier = jit::Tier::quick;
    words.erase(words.begin());
  }
  if (words.size() > 2 && words[0] == "--cpu") {
    options.cpu = words[1];
    words.erase(words.begin(), words.begin() + 2);
  }
  Runner runner{device::Device(0, **model, options), {}, nullptr, 0, {}};
  runner.gpu.set_stack_size(1 << 14);  // for programs that call themselves, as in run_random_on_gpu.cu
  while (words.size() > 2 && words[0].starts_with("--")) {
    if (words[0] == "--raw") runner.raw = std::fopen(words[1].c_str(), "rb");
    if (words[0] == "--write") runner.write = std::fopen(words[1].c_str(), "w");
    if (words[0] == "--print") runner.print = std::strtoull(words[1].c_str(), nullptr, 10);
    words.erase(words.begin(), words.begin() + 2);
  }
  if (words.size() < 2)
    return fmt::print(stderr,
                      "usage: run_random [--quick] [--cpu NAME] [--raw FILE] [--write FILE] [--print THREAD] RESULTS "
                      "FILE.ptx...\n"),
           2;
  runner.expected = read_results(words[0]);
  const std::filesystem::path results(words[0]);
  const std::vector<Replacement> replacements =
      read_replacements(std::filesystem::path(results).replace_filename("explained_differences.txt").string());
  unsigned replaced = 0;
  const std::vector<std::uint64_t> data = input();
  auto in = runner.gpu.allocate(data.size() * 8);
  if (!in.ok()) return fmt::print(stderr, "{}\n", in.error().message), 2;
  std::memcpy(reinterpret_cast<void*>(*in), data.data(), data.size() * 8);
  runner.in = *in;
  std::vector<std::shared_ptr<ptx::Module>> modules;  // must outlive the device's use of them
  for (std::size_t k = 1; k < words.size(); ++k) {
    std::string text = read_text(words[k]);
    for (const Replacement& r : replacements)
      if (!replace(r, &text, &replaced))
        runner.fail(fmt::format("case_{}: \"{}\" is not in it", r.number, r.instruction));
    auto module = ptx::parse(text, words[k]);
    if (!module.ok()) return fmt::print(stderr, "{}\n{}\n", module.error().message, module.error().detail), 2;
    auto loaded = runner.gpu.load(*module);
    if (!loaded.ok()) return fmt::print(stderr, "{}\n", loaded.error().message), 2;
    for (const Case& c : cases_of(text)) {
      const auto known = runner.expected.find(c.number);
      if (known != runner.expected.end() && known->second.empty())
        ++runner.not_recorded;
      else
        runner.run(**module, *loaded, text, c);
    }
    modules.push_back(*module);
  }
  fmt::print(
      "{} random programs, {} differ; {} instructions replaced (explained_differences.txt); {} not recorded on a GPU\n",
      runner.cases, runner.failures, replaced, runner.not_recorded);
  return runner.failures != 0 || runner.cases == 0;
}
