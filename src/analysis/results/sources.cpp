// Reading of source files, also from a folder beside the program.
#include "results/sources.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <limits>
#include <set>

namespace warpgrind::results {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargest = 4 << 20;  // bytes; larger files are generated and not shown

// Finds the longest suffix of the path that exists in the folder `source` beside the program. Moved or installed
// programs, such as the lab's, may have their sources there. Empty: not found.
std::string beside_the_program(const std::string& path) {
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path() / "source";
  if (error || !fs::is_directory(folder, error)) return "";
  std::string end = path.starts_with('/') ? path.substr(1) : path;
  for (;;) {
    if (fs::is_regular_file(folder / end, error)) return (folder / end).string();
    const std::size_t next = end.find('/');
    if (next == std::string::npos) return "";
    end.erase(0, next + 1);
  }
}

SourceFile read(const std::string& path, std::time_t built) {
  SourceFile out{path, "", "", false};
  struct stat info {};
  std::string from = path;
  errno = 0;
  if (stat(path.c_str(), &info) != 0) {
    const int reason = errno;
    if (const std::string other = beside_the_program(path); !other.empty()) from = other;
    errno = reason;
  }
  std::FILE* file = stat(from.c_str(), &info) == 0 && S_ISREG(info.st_mode) ? std::fopen(from.c_str(), "rbe") : nullptr;
  if (file == nullptr) {
    out.missing = fmt::format("{}: {}", path, errno == 0 ? "not a file" : std::strerror(errno));
    return out;
  }
  out.changed = info.st_mtime > built;
  if (static_cast<std::size_t>(info.st_size) > kLargest) {
    out.missing = fmt::format("{}: larger than {} MiB", path, kLargest >> 20);
  } else {
    out.text.resize(static_cast<std::size_t>(info.st_size));
    out.text.resize(std::fread(out.text.data(), 1, out.text.size(), file));
  }
  std::fclose(file);
  return out;
}

}  // namespace

void read_sources(Profile& profile) {
  std::set<std::string> files;
  for (const KernelProfile& k : profile.kernels) {
    for (const SiteProfile& s : k.sites) files.insert(s.file);
    for (const auto* lines : {&k.lines, &k.inlined_lines})
      for (const LineProfile& l : *lines) files.insert(l.file);
    for (const CodeRow& c : k.code) files.insert(c.file);
  }
  for (const Finding& f : profile.findings) {
    for (const FindingAccess& a : f.accesses) files.insert(a.file);
    if (f.origin) files.insert(f.origin->file);
    if (f.cause) files.insert(f.cause->file);
  }
  for (const Recording& r : profile.recordings)
    for (const RecordedPlace& place : r.places) files.insert(place.file);
  files.erase("");
  struct stat program {};
  const std::time_t built =
      stat("/proc/self/exe", &program) == 0 ? program.st_mtime : std::numeric_limits<std::time_t>::max();
  for (const SourceFile& known : profile.sources) files.erase(known.file);
  for (const std::string& file : files) profile.sources.push_back(read(file, built));
}

}  // namespace warpgrind::results
