// Subcommand `warpgrind scan`: the content of a program, without running it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "base/demangle.h"
#include "base/file.h"
#include "base/printable.h"
#include "cli/commands.h"
#include "cli/nvrtc_choice.h"
#include "cli/program_modules.h"
#include "fatbin/fatbin.h"
#include "ptx/spelling.h"
#include "session/refusals.h"

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

void print_kernels(const ptx::Module& module) {
  std::map<std::string, std::uint64_t> opcodes;
  for (const ptx::Function& f : module.functions) {
    if (!f.has_body) continue;
    if (f.is_entry)
      print_text(stdout, fmt::format("  kernel {}: {} instructions, {} parameters\n", demangle(f.name), f.body.size(),
                                     f.parameter_count));
    for (const ptx::Instruction& i : f.body) ++opcodes[ptx::opcode_spelling(i)];
  }
  std::vector<std::pair<std::uint64_t, std::string>> sorted;
  for (const auto& [spelling, count] : opcodes) sorted.emplace_back(count, spelling);
  std::sort(sorted.rbegin(), sorted.rend());
  print_text(stdout, fmt::format("  {} different opcodes:\n", sorted.size()));
  for (const auto& [count, spelling] : sorted) print_text(stdout, fmt::format("    {:8}  {}\n", count, spelling));
}

// Looks for the library's name in the file: the program may be linked with it, or open it itself.
bool compiles_at_run_time(const std::string& path) {
  const std::string content = read_whole(path, kLargestProgram).value_or("");
  if (!content.starts_with("\x7f"
                           "ELF"))
    return false;
  return content.find("nvrtcCompileProgram") != std::string::npos || content.find("libnvrtc.so") != std::string::npos;
}

}  // namespace

int scan(const std::string& path) {
  auto entries = fatbin::read_file(path);
  if (!entries) return complain(entries.error()), kUsageError;
  print_text(stdout, fmt::format("{}: {} entries\n", path, entries->size()));
  print_entries(*entries);
  if (compiles_at_run_time(path))
    print_text(stdout,
               fmt::format("  compiles kernels at run time (NVRTC, by {}), so scan cannot see them\n", chosen_nvrtc()));
  int code = 0;
  auto modules = read_modules(*entries, path, &code);
  if (!modules) return complain(modules.error()), kUsageError;
  for (const std::shared_ptr<ptx::Module>& module : *modules) {
    print_kernels(*module);
    const std::vector<Error> missing = session::refusals(*module);
    for (const Error& e : missing) print_text(stdout, fmt::format("  refused: {}\n", e.message));
    if (missing.empty())
      print_text(stdout, fmt::format("  everything is supported\n"));
    else
      code = 1;
  }
  return code;
}

}  // namespace warpgrind::cli
