// `warpgrind scan`: what a program holds, before it is run.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "base/demangle.h"
#include "cli/commands.h"
#include "cli/program_modules.h"
#include "fatbin/fatbin.h"
#include "jit/compile/compiler.h"
#include "ptx/spelling.h"

namespace warpgrind::cli {

namespace {

struct Missing {
  std::string opcode, why, kernel;
  std::uint32_t ptx_line = 0;
};

void print_entries(const std::vector<fatbin::FatbinEntry>& entries) {
  for (const fatbin::FatbinEntry& e : entries) {
    if (e.kind == fatbin::EntryKind::ptx)
      fmt::print("  image {}: PTX {}.{} for sm_{}{}{}\n", e.image, e.major, e.minor, e.arch, e.debug ? ", debug" : "",
                 e.name.empty() ? "" : ", from " + e.name);
    else
      fmt::print("  image {}: machine code for sm_{}{}\n", e.image, e.arch, e.linked ? ", linked" : "");
  }
}

// Kernels and what they use; returns what has no lowering.
std::vector<Missing> print_kernels(const ptx::Module& module) {
  jit::make_compiler();  // registers the functions machine code may call
  std::vector<Missing> missing;
  std::map<std::string, std::uint64_t> opcodes;
  for (const ptx::Function& f : module.functions) {
    if (!f.has_body) continue;
    if (f.is_entry)
      fmt::print("  kernel {}: {} instructions, {} parameters\n", demangle(f.name), f.body.size(), f.parameter_count);
    for (const ptx::UnknownInstruction& u : f.unknown)
      missing.push_back({u.why, "misspelt, or newer than the virtual GPU", demangle(f.name), u.range.line});
    std::set<std::string> seen;
    for (const ptx::Instruction& i : f.body) {
      const std::string spelling = ptx::opcode_spelling(i);
      ++opcodes[spelling];
      std::string why;
      if (!jit::is_supported(i, &why) && seen.insert(spelling).second)
        missing.push_back({spelling, why, demangle(f.name), i.range.line});
    }
  }
  std::vector<std::pair<std::uint64_t, std::string>> sorted;
  for (const auto& [spelling, count] : opcodes) sorted.emplace_back(count, spelling);
  std::sort(sorted.rbegin(), sorted.rend());
  fmt::print("  {} different opcodes:\n", sorted.size());
  for (const auto& [count, spelling] : sorted) fmt::print("    {:8}  {}\n", count, spelling);
  return missing;
}

}  // namespace

int scan(const std::string& path) {
  auto entries = fatbin::read_file(path);
  if (!entries) return complain(entries.error()), kUsageError;
  fmt::print("{}: {} entries\n", path, entries->size());
  print_entries(*entries);
  int code = 0;
  auto modules = read_modules(*entries, path, &code);
  if (!modules) return complain(modules.error()), kUsageError;
  for (const std::shared_ptr<ptx::Module>& module : *modules) {
    const std::vector<Missing> missing = print_kernels(*module);
    for (const Missing& m : missing)
      fmt::print("  not supported yet: {} (PTX line {}, {}): {}\n", m.opcode, m.ptx_line, m.kernel, m.why);
    if (missing.empty())
      fmt::print("  all of it is supported\n");
    else
      code = 1;
  }
  return code;
}

}  // namespace warpgrind::cli
