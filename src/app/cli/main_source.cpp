// Search of a program's source file.
#include "cli/main_source.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/words.h"
#include "fatbin/fatbin.h"

namespace warpgrind::cli {

namespace {

namespace fs = std::filesystem;

// The path in the PTX's `.file` directives that ends with this name; empty: none.
std::string whole_path(const std::string& ptx, const std::string& name) {
  constexpr std::string_view kDirective = "\t.file\t";
  for (std::size_t at = ptx.find(kDirective); at != std::string::npos; at = ptx.find(kDirective, at + 1)) {
    const std::size_t open = ptx.find('"', at);
    const std::size_t close = open == std::string::npos ? open : ptx.find('"', open + 1);
    if (close == std::string::npos) return "";
    std::string path = ptx.substr(open + 1, close - open - 1);
    if (path.ends_with("/" + name)) return path;
  }
  return "";
}

// The source that the program's code for the GPU names.
std::string source_in_executable(const std::string& program) {
  const auto entries = fatbin::read_file(program);
  if (!entries) return "";
  std::set<std::string> names;
  std::string path;
  for (const fatbin::FatbinEntry& entry : *entries) {
    if (entry.name.empty()) continue;
    names.insert(entry.name);
    if (entry.kind != fatbin::EntryKind::ptx || !path.empty()) continue;
    if (const auto ptx = fatbin::ptx_text(entry)) path = whole_path(*ptx, base_name(entry.name));
  }
  if (names.size() != 1) return "";
  return path.empty() ? *names.begin() : path;
}

}  // namespace

std::string main_source(const std::vector<std::string>& program) {
  if (program.empty()) return "";
  std::string source = program[0];
  if (!source.ends_with(".cu")) {
    const auto script = std::find_if(program.begin(), program.end(), [](const auto& w) { return w.ends_with(".py"); });
    source = script != program.end() ? *script : source_in_executable(program[0]);
  }
  std::error_code none;
  return fs::exists(source, none) ? fs::absolute(source, none).lexically_normal().string() : source;
}

}  // namespace warpgrind::cli
