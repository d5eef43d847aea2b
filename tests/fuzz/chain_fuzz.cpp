// Any text through the whole chain: parse, link, flow, lowering, machine code, and small grids of every kernel. Each
// step must end with a result or an error, each launch with results or a fault: no crash, no failed assertion, no hang.
// Mutations know PTX: they exchange statements, registers, types, numbers and targets, so that most of what they make
// still parses.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "device/device.h"
#include "gpu/gpu_model.h"
#include "jit/compile/compiler.h"
#include "ptx/linker.h"
#include "ptx/parser.h"

using namespace warpgrind;

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

// ---- Running one input.

constexpr double kLaunchSeconds = 2;  // then the watchdog ends it, at its next loop
constexpr std::size_t kBufferBytes = 64 << 10;
constexpr std::size_t kLongestFunction =
    600;  // instructions: compiling is bounded, but an input should take little time
constexpr int kKernels = 2;

struct Gpu {
  std::unique_ptr<device::Device> device;
  std::uint64_t buffer = 0;
  Gpu() {
    device::Options options;
    options.workers = 1;
    options.timeout_seconds = kLaunchSeconds;
    device = std::make_unique<device::Device>(0, **find_gpu_model("h200"), options);
    buffer = *device->allocate(kBufferBytes);
  }
};

void launch(Gpu& gpu, device::LoadedModule* loaded, const ptx::Function& entry, std::uint32_t index, unsigned threads) {
  std::memset(reinterpret_cast<void*>(gpu.buffer), 0x11, kBufferBytes);
  std::vector<std::vector<std::uint64_t>> values;
  for (const jit::ParameterLayout& p : jit::parameter_layout(entry)) {
    if (p.size > 4096) return;
    values.emplace_back(p.size / 8 + 1, gpu.buffer);
    if (p.size < 8) values.back()[0] = 33;
  }
  std::vector<void*> pointers;
  for (auto& v : values) pointers.push_back(v.data());
  pointers.push_back(nullptr);
  device::LaunchConfig config;
  config.grid = {2, 1, 1};
  config.block = {threads, 1, 1};
  config.dynamic_shared = 1024;
  (void)gpu.device->launch(loaded, index, config, pointers.data());
}

void run(const std::string& text) {
  static Gpu* const gpu = new Gpu;  // lives as long as the process: its memory is not a leak
  const auto parsed = ptx::parse(text, "fuzz");
  if (!parsed) return;
  const auto linked = ptx::link({*parsed});
  if (!linked) return;
  const std::shared_ptr<const ptx::Module> module = *linked;
  for (const ptx::Function& f : module->functions)
    if (f.body.size() > kLongestFunction) return;
  auto loaded = gpu->device->load(module);
  if (!loaded) return;
  int kernels = 0;
  for (std::uint32_t i = 0; i < module->functions.size() && kernels < kKernels; ++i) {
    const ptx::Function& f = module->functions[i];
    if (!f.is_entry || !f.has_body) continue;
    launch(*gpu, *loaded, f, i, kernels++ == 0 ? 70 : 32);
  }
  gpu->device->unload(*loaded);
}

// The input that runs now stands in a file of the folder FUZZ_RUNNING, empty between inputs: a process that dies
// without a word (a stack that has no room for a handler) leaves it there.
class Running {
 public:
  explicit Running(const std::string& text) {
    static const int file = open_file();
    file_ = file;
    if (file_ >= 0) (void)!pwrite(file_, text.data(), text.size(), 0);
  }
  ~Running() {
    if (file_ >= 0) (void)!ftruncate(file_, 0);
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  static int open_file() {
    const char* folder = std::getenv("FUZZ_RUNNING");
    if (!folder) return -1;
    return open((std::string(folder) + "/running-" + std::to_string(getpid())).c_str(), O_CREAT | O_WRONLY, 0644);
  }
  int file_ = -1;
};

// ---- Mutations.

using Random = std::minstd_rand;

std::size_t below(Random& random, std::size_t n) {
  return n == 0 ? 0 : random() % n;
}

struct Piece {
  std::size_t begin = 0, end = 0;
};

// Statements with what ends them: ';', '{' or '}'.
std::vector<Piece> statements(const std::string& text) {
  std::vector<Piece> out;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != ';' && text[i] != '{' && text[i] != '}') continue;
    out.push_back({begin, i + 1});
    begin = i + 1;
  }
  return out;
}

bool of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$';
}

// Registers, names, suffixes (".u32") and numbers.
std::vector<Piece> tokens(const std::string& text) {
  std::vector<Piece> out;
  for (std::size_t i = 0; i < text.size();) {
    const bool starts =
        of_name(text[i]) || ((text[i] == '%' || text[i] == '.') && i + 1 < text.size() && of_name(text[i + 1]));
    if (!starts) {
      ++i;
      continue;
    }
    const std::size_t begin = i++;
    while (i < text.size() && of_name(text[i])) ++i;
    out.push_back({begin, i});
  }
  return out;
}

char kind_of(const std::string& text, const Piece& token) {
  const char c = text[token.begin];
  return c == '%' || c == '.' ? c : std::isdigit(static_cast<unsigned char>(c)) ? '0' : 'a';
}

constexpr std::array<std::string_view, 44> kSuffixes = {
    ".u8",      ".s8",      ".u16",    ".s16",    ".u32",   ".s32",   ".u64",   ".s64",      ".b8",
    ".b16",     ".b32",     ".b64",    ".b128",   ".f16",   ".f16x2", ".bf16",  ".bf16x2",   ".f32",
    ".f64",     ".pred",    ".global", ".shared", ".local", ".param", ".const", ".v2",       ".v4",
    ".sat",     ".rn",      ".rz",     ".ftz",    ".wide",  ".lo",    ".hi",    ".volatile", ".relaxed",
    ".acquire", ".release", ".gpu",    ".sys",    ".cta",   ".sync",  ".uni",   ".aligned"};
constexpr std::array<std::string_view, 18> kNumbers = {"0",
                                                       "1",
                                                       "2",
                                                       "3",
                                                       "7",
                                                       "31",
                                                       "32",
                                                       "33",
                                                       "63",
                                                       "64",
                                                       "4095",
                                                       "65536",
                                                       "100000",
                                                       "2147483647",
                                                       "4294967295",
                                                       "9223372036854775807",
                                                       "18446744073709551615",
                                                       "0x7fc00000"};

void replace_token(std::string& text, Random& random) {
  const std::vector<Piece> all = tokens(text);
  if (all.empty()) return;
  const Piece token = all[below(random, all.size())];
  const char kind = kind_of(text, token);
  std::string by;
  if (kind == '.' && below(random, 2)) by = kSuffixes[below(random, kSuffixes.size())];
  if (kind == '0' && below(random, 2)) by = kNumbers[below(random, kNumbers.size())];
  for (int tries = 0; by.empty() && tries < 20; ++tries) {
    const Piece other = all[below(random, all.size())];
    if (kind_of(text, other) == kind) by = text.substr(other.begin, other.end - other.begin);
  }
  text.replace(token.begin, token.end - token.begin, by);
}

void move_statement(std::string& text, const std::string& from, Random& random) {
  const std::vector<Piece> targets = statements(text), sources = statements(from);
  if (targets.empty() || sources.empty()) return;
  const Piece target = targets[below(random, targets.size())], source = sources[below(random, sources.size())];
  const std::string statement = from.substr(source.begin, source.end - source.begin);
  switch (below(random, 4)) {
    case 0:
      text.erase(target.begin, target.end - target.begin);
      break;
    case 1:
      text.replace(target.begin, target.end - target.begin, statement);
      break;
    default:
      text.insert(target.end, statement);
  }
}

// A guard, or its other sense; a jump somewhere else.
void bend_control_flow(std::string& text, Random& random) {
  const std::vector<Piece> all = statements(text);
  std::vector<std::string> labels;
  for (std::size_t colon = text.find(':'); colon != std::string::npos; colon = text.find(':', colon + 1)) {
    std::size_t begin = colon;
    while (begin > 0 && of_name(text[begin - 1])) --begin;
    if (begin < colon) labels.push_back(text.substr(begin, colon - begin));
  }
  if (all.empty()) return;
  const Piece at = all[below(random, all.size())];
  if (labels.empty() || below(random, 4) == 0) {
    const std::string label = "F" + std::to_string(random() % 1000);
    text.insert(at.end, " " + label + ":");
    labels.push_back(label);
  }
  const std::string& label = labels[below(random, labels.size())];
  const std::string guard = below(random, 2) ? "@%p" + std::to_string(below(random, 4)) + " " : "";
  text.insert(at.end, " " + guard + "bra " + label + ";");
}

std::string mutated(std::string text, const std::string& other, Random& random) {
  for (std::size_t n = 1 + below(random, 4); n > 0; --n) switch (below(random, 8)) {
      case 0:
        move_statement(text, other, random);
        break;
      case 1:
      case 2:
        move_statement(text, text, random);
        break;
      case 3:
        bend_control_flow(text, random);
        break;
      default:
        replace_token(text, random);
    }
  return text;
}

std::size_t give(const std::string& text, std::uint8_t* data, std::size_t max_size) {
  const std::size_t size = std::min(text.size(), max_size);
  std::memcpy(data, text.data(), size);
  return size;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned int seed) {
  Random random(seed);
  if (size == 0 || below(random, 20) == 0) return LLVMFuzzerMutate(data, size, max_size);
  const std::string text(reinterpret_cast<char*>(data), size);
  return give(mutated(text, text, random), data, max_size);
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* data1, std::size_t size1,
                                                 const std::uint8_t* data2, std::size_t size2, std::uint8_t* out,
                                                 std::size_t max_size, unsigned int seed) {
  Random random(seed);
  std::string text(reinterpret_cast<const char*>(data1), size1);
  const std::string other(reinterpret_cast<const char*>(data2), size2);
  for (std::size_t n = 1 + below(random, 6); n > 0; --n) move_statement(text, other, random);
  return give(text, out, max_size);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const Running running(text);
  run(text);
  return 0;
}
