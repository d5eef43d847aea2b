// Subcommand `warpgrind scan`: the content of a program, without running it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/file.h"
#include "base/printable.h"
#include "base/temporary_folder.h"
#include "cli/commands.h"
#include "cli/compile_program.h"
#include "cli/nvrtc_choice.h"
#include "cli/program_content.h"

namespace warpgrind::cli {

namespace {

void print_entries(const std::vector<fatbin::FatbinEntry>& entries) {
  for (const fatbin::FatbinEntry& e : entries) {
    if (e.kind == fatbin::EntryKind::ptx)
      print_text(stdout, fmt::format("  image {}: PTX {}.{} for sm_{}{}{}\n", e.image, e.major, e.minor, e.arch,
                                     e.debug ? ", debug" : "", e.name.empty() ? "" : ", from " + e.name));
    else
      print_text(stdout,
                 fmt::format("  image {}: machine code for sm_{}{}\n", e.image, e.arch, e.linked ? ", linked" : ""));
  }
}

void print_module(const ModuleContent& module) {
  for (const KernelContent& k : module.kernels)
    print_text(stdout,
               fmt::format("  kernel {}: {} instructions, {} parameters\n", k.name, k.instructions, k.parameters));
  std::vector<std::pair<std::uint64_t, std::string>> sorted;
  for (const auto& [spelling, count] : module.opcodes) sorted.emplace_back(count, spelling);
  std::sort(sorted.rbegin(), sorted.rend());
  print_text(stdout, fmt::format("  {} different opcodes:\n", sorted.size()));
  for (const auto& [count, spelling] : sorted) print_text(stdout, fmt::format("    {:8}  {}\n", count, spelling));
  for (const std::string& why : module.refused) print_text(stdout, fmt::format("  refused: {}\n", why));
  if (module.refused.empty()) print_text(stdout, fmt::format("  everything is supported\n"));
}

}  // namespace

int scan(const ScanCommand& command) {
  if (Status s = check_writable(command.json_path); !s) return complain(s.error()), kUsageError;
  const TemporaryFolder folder;
  std::string path = command.program;
  if (path.ends_with(".cu")) {
    if (!folder.problem.empty()) return complain(folder.problem), kUsageError;
    const RunCommand& run = command.run;
    auto binary =
        compile_program({{path}, run.options.gpu, run.nvcc_flags, run.compiler, false, "", false}, folder.path);
    if (!binary) return complain(binary.error()), kUsageError;
    path = binary.take();
  }
  auto content = read_content(path);
  if (!content) return complain(content.error()), kUsageError;
  content->path = command.program;
  if (!command.json_path.empty())
    if (Status s = write_whole(command.json_path, content_json(*content)); !s) return complain(s.error()), kUsageError;
  if (command.json_path == "-") return content->code;
  print_text(stdout, fmt::format("{}: {} entries\n", command.program, content->entries.size()));
  print_entries(content->entries);
  if (content->compiles_at_run_time)
    print_text(stdout,
               fmt::format("  compiles kernels at run time (NVRTC, by {}), so scan cannot see them\n", chosen_nvrtc()));
  for (const ModuleContent& module : content->modules) print_module(module);
  return content->code;
}

}  // namespace warpgrind::cli
