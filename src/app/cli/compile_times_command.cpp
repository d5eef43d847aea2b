// Subcommand `warpgrind compile-times`: time and memory to compile each kernel of programs, for docs/compile-times.md
// and for work on the compiler. A process of its own compiles each kernel, so that its memory is measured separately
// and a crash is only a row.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <optional>

#include "base/assert.h"
#include "base/demangle.h"
#include "base/descriptor.h"
#include "base/words.h"
#include "cli/commands.h"
#include "cli/program_modules.h"
#include "device/device.h"
#include "fatbin/fatbin.h"
#include "jit/compile/compiler.h"

namespace warpgrind::cli {

namespace {

// The bounds promised in the issue and the documents.
constexpr double kSecondsPerInstruction = 1e-3, kSecondsAtLeast = 1, kSecondsAtMost = 10, kMegabytesAtMost = 500;

struct Row {
  jit::CompilationSize size;
  double seconds = 0, megabytes = 0;
  enum class End : std::uint8_t { good, refused, crashed } end = End::good;

  bool within_bounds() const {
    const double limit = std::clamp(kSecondsPerInstruction * static_cast<double>(size.ptx_instructions),
                                    kSecondsAtLeast, kSecondsAtMost);
    return end != End::crashed && seconds <= limit && megabytes <= kMegabytesAtMost;
  }
};

double resident_megabytes() {
  std::ifstream file("/proc/self/statm");
  double total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
}

struct Measured {
  double megabytes_before = 0;
  jit::CompilationSize size;
};

// Runs in the child: writes its figures to `out`; the exit code shows success.
[[noreturn]] void compile_and_exit(const ptx::Module& module, std::uint32_t entry, const jit::CompileOptions& options,
                                   int out) {
  device::register_symbols();
  Measured measured;
  measured.megabytes_before = resident_megabytes();
  auto kernel = jit::make_compiler()->compile(module, entry, options);
  if (!kernel) {
    complain(kernel.error());
    _exit(1);
  }
  measured.size = (*kernel)->size;
  _exit(write(out, &measured, sizeof measured) == sizeof measured ? 0 : 1);
}

// fork(), and not base/process: the child uses the parsed module in this process's memory and starts no program.
std::optional<Row> measure(const ptx::Module& module, std::uint32_t entry, const jit::CompileOptions& options) {
  Pipe figures;
  if (!figures.open()) return std::nullopt;
  const pid_t child = fork();
  if (child == 0) compile_and_exit(module, entry, options, figures.write.get());
  figures.write.reset();
  Row row;
  Measured measured;
  const bool good = read(figures.read.get(), &measured, sizeof measured) == sizeof measured;
  int status = 0;
  rusage used{};
  if (child < 0 || wait4(child, &status, 0, &used) != child) return std::nullopt;
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  row.seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
  row.megabytes = static_cast<double>(used.ru_maxrss) * 1024 / 1e6 - measured.megabytes_before;
  row.size = measured.size;
  if (!good) row.end = WIFEXITED(status) ? Row::End::refused : Row::End::crashed;
  return row;
}

std::string shortened(const std::string& name) {
  constexpr std::size_t kLongest = 100;
  return name.size() <= kLongest ? name : name.substr(0, kLongest) + "...";
}

void print_row(const Row& r, const std::string& kernel) {
  if (r.end != Row::End::good) {
    fmt::print("{:>8} {:8.2f} {:8} {}  {}\n", "-", r.seconds, "",
               r.end == Row::End::refused ? "not supported" : "the compiler crashed", kernel);
    return;
  }
  fmt::print("{:8} {:8.2f} {:8.0f} {:5}  {:8} {:7} {:7} {:7}  {}{}\n", r.size.ptx_instructions, r.seconds, r.megabytes,
             jit::tier_name(r.size.tier), r.size.code.instructions, r.size.code.phis, r.size.phis, r.size.in_memory,
             r.within_bounds() ? "" : "(!) ", kernel);
}

// Totals of all kernels of a file, for one line.
struct Sum {
  std::uint64_t kernels = 0, refused = 0, outside = 0, largest = 0;
  std::uint64_t tiers[3] = {};
  double seconds = 0, slowest = 0, megabytes = 0;

  void add(const Row& r) {
    if (r.end == Row::End::refused) {
      ++refused;
      return;
    }
    ++kernels;
    WG_ASSERT(static_cast<unsigned>(r.size.tier) < std::size(tiers));
    ++tiers[static_cast<unsigned>(r.size.tier)];
    outside += !r.within_bounds();
    largest = std::max(largest, r.size.ptx_instructions);
    seconds += r.seconds;
    slowest = std::max(slowest, r.seconds);
    megabytes = std::max(megabytes, r.megabytes);
  }
};

}  // namespace

int compile_times(const CompileTimesCommand& command) {
  jit::CompileOptions options;
  options.cpu = command.cpu;
  options.dump_ir = command.dump_ir;
  options.dump_object = command.dump_object;
  for (const jit::Tier tier : {jit::Tier::full, jit::Tier::lean, jit::Tier::quick})
    if (command.tier == jit::tier_name(tier)) options.tier = tier;
  options.quick_start = command.tier == "new";
  int code = 0;
  if (command.summary)
    fmt::print(
        "| program | kernels | largest (PTX instructions) | full | lean | quick | CPU s, all | CPU s, slowest | MB, "
        "most | outside the bounds |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
  else
    fmt::print("{:>8} {:>8} {:>8} {:5}  {:>8} {:>7} {:>7} {:>7}  {}\n", "PTX", "CPU s", "MB", "tier", "LLVM IR", "phis",
               "made", "memory", "kernel");
  for (const std::string& path : command.files) {
    auto entries = fatbin::read_file(path);
    if (!entries) return complain(entries.error()), kUsageError;
    auto modules = read_modules(*entries, path, &code);
    if (!modules) return complain(modules.error()), kUsageError;
    Sum sum;
    for (const std::shared_ptr<ptx::Module>& module : *modules) {
      for (std::uint32_t f = 0; f < module->functions.size(); ++f) {
        const ptx::Function& function = module->functions[f];
        if (!function.is_entry || !function.has_body || function.alias_of != ptx::kNoId) continue;
        const std::string name = demangle(function.name);
        if (name.find(command.kernel) == std::string::npos && function.name != command.kernel) continue;
        std::fflush(stdout);
        const std::optional<Row> row = measure(*module, f, options);
        if (!row) return complain("cannot start a process"), kUsageError;
        sum.add(*row);
        if (!command.summary) print_row(*row, shortened(name));
      }
    }
    if (sum.outside) code = std::max(code, 1);
    if (command.summary)
      fmt::print("| {} | {} | {} | {} | {} | {} | {:.2f} | {:.2f} | {:.0f} | {} |\n", base_name(path), sum.kernels,
                 sum.largest, sum.tiers[0], sum.tiers[1], sum.tiers[2], sum.seconds, sum.slowest, sum.megabytes,
                 sum.outside);
    else
      fmt::print("{}: {} kernels in {:.2f} CPU s, the slowest {:.2f} s, {:.0f} MB; outside the bounds: {}\n",
                 base_name(path), sum.kernels, sum.seconds, sum.slowest, sum.megabytes, sum.outside);
  }
  return code;
}

}  // namespace warpgrind::cli
