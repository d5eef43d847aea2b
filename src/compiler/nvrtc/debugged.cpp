// Debug options, and stored sources.
#include "nvrtc/debugged.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "base/digest.h"
#include "base/file.h"
#include "base/run_variables.h"
#include "nvrtc/script_lines.h"

namespace warpgrind::nvrtc {

namespace {

namespace fs = std::filesystem;

// "path" is `name` itself, or ends with it as compilers complete it: "/folder/" + name.
bool completes(std::string_view path, std::string_view name) {
  while (name.starts_with("./")) name.remove_prefix(2);
  if (name.empty() || !path.ends_with(name)) return false;
  return path.size() == name.size() || path[path.size() - name.size() - 1] == '/';
}

// Path of the file that holds `text`; empty: it cannot be written, or its name cannot stand in PTX.
std::string store(const std::string& folder, std::string_view name, const std::string& text) {
  const std::string file(name.substr(name.rfind('/') + 1));
  if (file.empty() || file == "." || file == ".." || file.find_first_of("\"\\\n\r") != std::string::npos) return "";
  constexpr std::size_t kDigits = 16;
  const fs::path place = fs::path(folder) / digest(text).substr(0, kDigits);
  std::error_code problem;
  fs::create_directories(place, problem);
  std::string path = (place / file).string();
  if (fs::exists(path, problem) || write_whole(path, text).ok()) return path;
  return "";
}

// The name of a stored text in place of `path`; empty: the name stays.
std::string replacement(const std::string& path, const Source& source, const std::string& folder) {
  if (completes(path, source.name))
    return read_whole(path) == source.text ? "" : store(folder, source.name, source.text);
  std::error_code none;
  for (const auto& [name, text] : source.headers)
    if (completes(path, name) && !fs::exists(path, none)) return store(folder, name, text);
  return "";
}

}  // namespace

const std::string& debug_folder() {
  static const std::string& folder = *new std::string([] {
    const char* const value = std::getenv(run_variables::kDebugSources);
    return value ? value : "";
  }());
  return folder;
}

std::vector<std::string> with_debug_option(std::vector<std::string> options) {
  constexpr std::string_view kDecided[] = {"-G",    "--device-debug",   "-device-debug",
                                           "-dlto", "--dlink-time-opt", "-dlink-time-opt"};
  const bool decided = std::any_of(options.begin(), options.end(), [&](const std::string& option) {
    return std::find(std::begin(kDecided), std::end(kDecided), option) != std::end(kDecided);
  });
  if (!decided) options.emplace_back("-G");
  return options;
}

std::string with_own_script_lines(const Source& source) {
  if (source.name != kDefaultName) return source.text;
  return with_script_lines(source.text, source.name, own_scripts());
}

std::string with_stored_sources(const std::string& ptx, const Source& source, const std::string& folder) {
  std::string out;
  std::size_t done = 0;
  constexpr std::string_view kDirective = ".file";
  for (std::size_t at = ptx.find(kDirective); at != std::string::npos; at = ptx.find(kDirective, at + 1)) {
    const std::size_t line = ptx.rfind('\n', at) + 1;  // 0 without one
    if (ptx.find_first_not_of(" \t", line) != at) continue;
    const std::size_t end = std::min(ptx.find('\n', at), ptx.size());
    const std::size_t open = ptx.find('"', at);
    const std::size_t close = open < end ? ptx.find('"', open + 1) : std::string::npos;
    if (close >= end) continue;
    const std::string name = replacement(ptx.substr(open + 1, close - open - 1), source, folder);
    if (name.empty()) continue;
    out.append(ptx, done, open + 1 - done).append(name);
    done = close;
  }
  return out.append(ptx, done);
}

}  // namespace warpgrind::nvrtc
