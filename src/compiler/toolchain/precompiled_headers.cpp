// Precompiled headers: the choice of a base by a source's first lines, the entries, and their checks.
//
// Entry NAME in a folder: NAME.h with the base's text, NAME.pch, NAME.inputs. The last has the digest of NAME.pch in
// its first line, then a line for each header that was read: size, time, path. NAME.lacked: a pass lacked this entry;
// its content is "failed" if it could not be made.
#include "toolchain/precompiled_headers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <sstream>

#include "base/digest.h"
#include "base/file.h"
#include "toolchain/dependencies.h"

namespace warpgrind::toolchain {

namespace {

namespace fs = std::filesystem;

constexpr const char* kFailed = "failed\n";
// Headers that never change the meaning of one that is read before them instead of after them.
constexpr std::array<std::string_view, 18> kPlainHeaders = {
    "assert.h", "ctype.h",        "errno.h",  "float.h",     "limits.h",    "math.h",
    "stdint.h", "stdio.h",        "stdlib.h", "string.h",    "time.h",      "unistd.h",
    "cuda.h",   "cuda_runtime.h", "curand.h", "cublas_v2.h", "cuda_fp16.h", "cufft.h"};

// Source of a precompiled header. Every pass includes the wrapper by an option.
std::string text_of(HeaderBase base) {
  std::string out = base == HeaderBase::wrapper ? "\n" : "";
  for (const HeaderBase part : {HeaderBase::thrust, HeaderBase::cub})
    if (part == base || base == HeaderBase::thrust_and_cub) out += fmt::format("#include <{}>\n", name_of(part));
  return out;
}

bool is_plain(std::string_view header) {
  if (header.starts_with("thrust/") || header.starts_with("cub/") || header.starts_with("cuda/")) return true;
  // <vector> and other headers of the C++ library
  if (header.find_first_of("./") == std::string_view::npos) return true;
  return std::find(kPlainHeaders.begin(), kPlainHeaders.end(), header) != kPlainHeaders.end();
}

// Skips blanks and comments.
std::string_view at_next_token(std::string_view text) {
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    std::size_t end = 0;
    if (text.starts_with("//"))
      end = text.find('\n');
    else if (text.starts_with("/*"))
      end = text.find("*/");
    else
      return text;
    if (end == std::string_view::npos) return "";
    text.remove_prefix(std::min(end + 2 - (text[1] == '/' ? 1 : 0), text.size()));
  }
}

// The header of an `#include <header>` at the begin of the text, which is then behind it; empty: something else.
std::string_view take_include(std::string_view& text) {
  std::string_view rest = text;
  const auto skip_blanks = [&] { rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size())); };
  if (!rest.starts_with('#')) return "";
  rest.remove_prefix(1);
  skip_blanks();
  if (!rest.starts_with("include")) return "";
  rest.remove_prefix(std::string_view("include").size());
  skip_blanks();
  const auto end = rest.find_first_of(">\n");
  if (!rest.starts_with('<') || end == std::string_view::npos || rest[end] != '>') return "";
  text = rest.substr(end + 1);
  return rest.substr(1, end - 1);
}

// "SIZE SECONDS.NANOSECONDS" of a file, which change when it is written; empty: there is none.
std::string size_and_time(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return "";
  return fmt::format("{} {}.{}", info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

// Options without an effect on what the headers mean.
bool decides_nothing(const std::string& word) {
  return word.starts_with("-cuid=") || word == "-fcolor-diagnostics";
}

Words deciding(const Words& flags) {
  Words out;
  for (const std::string& word : flags) {
    if (!decides_nothing(word)) {
      out.push_back(word);
    } else if (!out.empty() && out.back() == "-Xclang") {
      out.pop_back();
    }
  }
  return out;
}

bool inputs_are_unchanged(std::istream& lines) {
  std::string line;
  while (std::getline(lines, line)) {
    const auto first = line.find(' '), second = line.find(' ', first + 1);
    if (second == std::string::npos || size_and_time(line.substr(second + 1)) != line.substr(0, second)) return false;
  }
  return true;
}

}  // namespace

std::string_view name_of(HeaderBase base) {
  switch (base) {
    case HeaderBase::wrapper:
      return "warpgrind/wrapper.h";
    case HeaderBase::thrust:
      return "thrust/device_vector.h";
    case HeaderBase::cub:
      return "cub/cub.cuh";
    case HeaderBase::thrust_and_cub:
      return "thrust/device_vector.h and cub/cub.cuh";
  }
  return "";
}

HeaderBase base_for(std::string_view source) {
  bool thrust = false, cub = false;
  for (;;) {
    source = at_next_token(source);
    const std::string_view header = take_include(source);
    if (header.empty() || !is_plain(header)) break;
    thrust = thrust || header == name_of(HeaderBase::thrust);
    cub = cub || header == name_of(HeaderBase::cub);
  }
  if (thrust && cub) return HeaderBase::thrust_and_cub;
  return thrust ? HeaderBase::thrust : cub ? HeaderBase::cub : HeaderBase::wrapper;
}

std::string PrecompiledHeaders::name(const Pass& pass) const {
  std::error_code problem;
  std::string text =
      fmt::format("{} {}\n{}", clang_, size_and_time(fs::canonical(clang_, problem).string()), text_of(pass.base));
  bool relative = false;
  for (const std::string& word : deciding(pass.flags)) {
    text += '\n' + word;
    relative |= word.starts_with("-I") || word.starts_with("-i");
  }
  for (const std::string& word : pass.variables) text += '\n' + word;
  // Relative folders of headers depend on it.
  if (relative || !pass.variables.empty()) text += '\n' + fs::current_path(problem).string();
  return digest(text);
}

std::optional<std::string> PrecompiledHeaders::find(const Pass& pass) const {
  const std::string entry = name(pass);
  for (const std::string& folder : {folders_.installed, folders_.own}) {
    if (folder.empty()) continue;
    const std::string path = folder + "/" + entry;
    const auto inputs = read_whole(path + ".inputs");
    if (!inputs) continue;
    std::istringstream lines(*inputs);
    std::string known;
    std::getline(lines, known);
    if (!inputs_are_unchanged(lines)) continue;
    const auto content = read_whole(path + ".pch");
    if (content && digest(*content) == known) {
      utimensat(AT_FDCWD, (path + ".inputs").c_str(), nullptr, 0);  // time of last use, for evict()
      return path + ".pch";
    }
    std::fputs(fmt::format("warpgrind: {}.pch is damaged: not used\n", path).c_str(), stderr);
    for (const char* ending : {".inputs", ".pch"}) ::unlink((path + ending).c_str());
  }
  return std::nullopt;
}

bool PrecompiledHeaders::lacked_before(const Pass& pass) const {
  if (folders_.own.empty()) return false;
  const std::string note = folders_.own + "/" + name(pass) + ".lacked";
  if (access(note.c_str(), F_OK) == 0) return true;
  std::error_code problem;
  fs::create_directories(folders_.own, problem);
  (void)write_whole(note, "");  // if it fails, headers stay as they are
  return false;
}

std::optional<PrecompiledHeaders::Making> PrecompiledHeaders::make(const Pass& pass, const std::string& folder) const {
  static std::atomic<unsigned> number = 0;
  if (folders_.own.empty()) return std::nullopt;
  Making out;
  out.entry = folders_.own + "/" + name(pass);
  if (read_whole(out.entry + ".lacked").value_or("") == kFailed) return std::nullopt;
  std::error_code problem;
  fs::create_directories(folders_.own, problem);
  // Its time is part of a precompiled header, so it stays as it is.
  const std::string header = out.entry + ".h";
  if (access(header.c_str(), R_OK) != 0 && !write_whole(header, text_of(pass.base))) return std::nullopt;
  const unsigned n = number++;
  out.fresh = fmt::format("{}.{}.{}", out.entry, getpid(), n);
  out.rules = fmt::format("{}/headers{}.d", folder, n);
  out.messages = fmt::format("{}/headers{}.txt", folder, n);
  out.command = deciding(pass.flags);
  for (const char* word : {"-S", "-Xclang", "-emit-pch", "-MD", "-MT", "target", "-MF"}) out.command.emplace_back(word);
  for (const std::string& word : {out.rules, header, std::string("-o"), out.fresh}) out.command.push_back(word);
  return out;
}

std::optional<std::string> PrecompiledHeaders::keep(const Making& making, bool good) const {
  const auto content = read_whole(making.fresh);
  const auto headers = read_dependencies(making.rules);
  std::string inputs;
  if (content) inputs = digest(*content) + '\n';
  bool whole = good && content && headers && read_whole(making.messages).value_or("").empty();
  for (std::size_t i = 0; whole && i < headers->size(); i++) {
    const std::string& path = (*headers)[i];
    // Relative paths would mean other files in another folder.
    std::error_code problem;
    const std::string known = fs::absolute(path, problem).string();
    whole = !problem && path.find('\n') == std::string::npos && !size_and_time(path).empty();
    inputs += fmt::format("{} {}\n", size_and_time(path), known);
  }
  std::string file = making.entry + ".pch";
  if (whole && ::rename(making.fresh.c_str(), file.c_str()) == 0 && write_whole(making.entry + ".inputs", inputs)) {
    evict();
    return file;
  }
  ::unlink(making.fresh.c_str());
  const std::string note = making.entry + ".lacked";
  // After an error, such as a full disk or a header that is not there, the next compilation but one tries again.
  if (good)
    (void)write_whole(note, kFailed);
  else
    ::unlink(note.c_str());
  return std::nullopt;
}

void PrecompiledHeaders::refuse(const std::string& file) const {
  const std::string path = fs::path(file).replace_extension().string();
  for (const char* ending : {".inputs", ".pch"}) ::unlink((path + ending).c_str());
  (void)write_whole(path + ".lacked", kFailed);
}

void PrecompiledHeaders::evict(std::uint64_t limit) const {
  struct Entry {
    fs::file_time_type used;
    std::uint64_t bytes;
    std::string path;
  };
  std::vector<Entry> all;
  std::uint64_t total = 0;
  std::error_code problem;
  for (fs::directory_iterator at(folders_.own, problem), end; !problem && at != end; at.increment(problem)) {
    if (at->path().extension() != ".pch") continue;
    const fs::path file = at->path();
    const std::string path = fs::path(file).replace_extension().string();
    std::error_code none;
    std::error_code gone;
    const auto bytes = fs::file_size(file, gone);
    const auto used = fs::last_write_time(path + ".inputs", none);
    if (gone) continue;
    all.push_back({none ? fs::file_time_type::min() : used, bytes, path});
    total += bytes;
  }
  if (total <= limit) return;
  std::sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& entry : all) {
    if (total <= limit / 4 * 3) return;
    for (const char* ending : {".inputs", ".pch", ".h", ".lacked"}) ::unlink((entry.path + ending).c_str());
    total -= entry.bytes;
  }
}

void PrecompiledHeaders::tidy(std::vector<std::string>& dependencies, const std::string& source) {
  // The text's file has a name that no header of a user has.
  std::erase_if(dependencies, [](const std::string& path) {
    const std::string name = fs::path(path).filename().string();
    return name.size() == 34 && name.ends_with(".h") && name.find_first_not_of("0123456789abcdef") == 32;
  });
  const auto at = std::find(dependencies.begin(), dependencies.end(), source);
  if (at != dependencies.end()) std::rotate(dependencies.begin(), at, at + 1);
}

}  // namespace warpgrind::toolchain
