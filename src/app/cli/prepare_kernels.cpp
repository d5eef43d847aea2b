// `warpgrind prepare --kernels`: compiles the kernels of programs for every CPU, without running them. A package has
// them in lib/warpgrind/prepared/kernels, and a kernel without other code there is found by jit/compile/compiler.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/demangle.h"
#include "base/printable.h"
#include "base/processor.h"
#include "cli/commands.h"
#include "cli/program_modules.h"
#include "device/device.h"
#include "fatbin/fatbin.h"
#include "jit/compile/compiler.h"

namespace warpgrind::cli {

namespace {

namespace fs = std::filesystem;

// Compiles the kernels of one file as a new kernel of a `run` with counters would be. Returns how many were compiled.
Result<unsigned> compile_all(const std::string& path, const PrepareCommand& command, jit::Compiler& compiler,
                             const jit::CompileOptions& options) {
  const auto entries = fatbin::read_file(path);
  if (!entries) return entries.error();
  int code = 0;
  const auto modules = read_modules(*entries, path, &code);
  if (!modules) return modules.error();
  unsigned count = 0;
  for (const std::shared_ptr<ptx::Module>& module : *modules)
    for (std::uint32_t f = 0; f < module->functions.size(); ++f) {
      const ptx::Function& function = module->functions[f];
      if (!function.is_entry || !function.has_body || function.alias_of != ptx::kNoId) continue;
      const std::string name = demangle(function.name);
      const auto in_name = [&](const std::string& text) { return name.find(text) != std::string::npos; };
      if (std::any_of(command.leave_out.begin(), command.leave_out.end(), in_name)) continue;
      const auto kernel = compiler.compile(*module, f, options);
      if (!kernel) return kernel.error();
      ++count;
    }
  return count;
}

}  // namespace

int prepare_kernels(const PrepareCommand& command) {
  device::register_symbols();
  unsigned count = 0;
  for (const std::string_view level : kProcessorLevels) {
    jit::CompileOptions options;
    options.cpu = level;
    options.for_level = options.quick_start = true;
    options.cache_directory = command.kernels;
    const auto compiler = jit::make_compiler();
    for (const std::string& program : command.programs) {
      const auto compiled = compile_all(program, command, *compiler, options);
      if (!compiled) return complain(compiled.error()), kUsageError;
      count += *compiled;
    }
  }
  // Kernels that two programs share are one file.
  unsigned files = 0;
  std::uint64_t bytes = 0;
  std::error_code problem;
  for (fs::directory_iterator at(command.kernels + "/kernels", problem), end; !problem && at != end;
       at.increment(problem)) {
    files++;
    bytes += at->file_size(problem);
  }
  print_text(stdout, fmt::format("{} kernels compiled, {} in {} ({:.1f} MB)\n", count, files, command.kernels,
                                 static_cast<double>(bytes) / 1e6));
  return count != 0 && files == 0 ? 1 : 0;
}

}  // namespace warpgrind::cli
