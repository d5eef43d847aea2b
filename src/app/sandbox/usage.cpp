// Resource use of a box, read from its /proc and its file system.
#include "sandbox/usage.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "base/descriptor.h"

namespace warpgrind::sandbox {

namespace {

std::string text_of(int folder, const std::string& name) {
  Descriptor file(openat(folder, name.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  std::array<char, 4096> buffer;
  ssize_t got;
  while (file.get() >= 0 && (got = read(file.get(), buffer.data(), buffer.size())) > 0) text.append(buffer.data(), got);
  return text;
}

std::uint64_t number_after(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return 0;
  const std::size_t digits = text.find_first_of("0123456789", at + key.size());
  std::uint64_t value = 0;
  if (digits != std::string_view::npos) std::from_chars(text.data() + digits, text.data() + text.size(), value);
  return value;
}

// Fields 14 to 17 and 22 of /proc/PID/stat: user and system time, of the process and of the children that it has waited
// for, and its start. They follow a name in brackets that may hold any character.
ProcessTime time_of(int process, std::string_view stat) {
  ProcessTime time;
  time.process = process;
  std::size_t at = stat.rfind(')');
  static const double per_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  for (int field = 3; field <= 22 && at != std::string_view::npos; ++field) {
    at = stat.find(' ', at);
    if (at == std::string_view::npos) break;
    std::int64_t value = 0;
    std::from_chars(stat.data() + ++at, stat.data() + stat.size(), value);
    if (field >= 14 && field <= 17) (field <= 15 ? time.own : time.reaped) += static_cast<double>(value) / per_second;
    if (field == 22) time.start = static_cast<std::uint64_t>(value);
  }
  return time;
}

// Memory files (memfd) hold pages that no process has mapped.
std::uint64_t files_in_memory(int processes, const std::string& process, std::set<std::uint64_t>& seen) {
  Descriptor folder(openat(processes, (process + "/fd").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  DIR* stream = folder.get() >= 0 ? fdopendir(dup(folder.get())) : nullptr;
  if (stream == nullptr) return 0;
  std::uint64_t bytes = 0;
  while (const dirent* entry = readdir(stream)) {
    std::array<char, 32> target;
    const ssize_t length = readlinkat(folder.get(), entry->d_name, target.data(), target.size());
    if (length < 0 || !std::string_view(target.data(), length).starts_with("/memfd:")) continue;
    struct stat about;
    if (fstatat(folder.get(), entry->d_name, &about, 0) != 0 || !seen.insert(about.st_ino).second) continue;
    bytes += static_cast<std::uint64_t>(about.st_blocks) * 512;
  }
  closedir(stream);
  return bytes;
}

}  // namespace

Usage usage_of(int processes, int disk) {
  Usage usage;
  std::set<std::uint64_t> seen;
  std::uint64_t shared = 0;
  std::uint64_t in_files = 0;
  int again = openat(processes, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* stream = again >= 0 ? fdopendir(again) : nullptr;
  while (const dirent* entry = stream != nullptr ? readdir(stream) : nullptr) {
    if (isdigit(static_cast<unsigned char>(entry->d_name[0])) == 0) continue;
    const std::string name = entry->d_name;
    const std::string status = text_of(processes, name + "/status");
    usage.processes += static_cast<int>(number_after(status, "\nThreads:"));
    usage.memory += 1024 * (number_after(status, "\nRssAnon:") + number_after(status, "\nVmPTE:") + 16);
    shared += 1024 * number_after(status, "\nRssShmem:");
    usage.times.push_back(time_of(std::atoi(name.c_str()), text_of(processes, name + "/stat")));
    in_files += files_in_memory(processes, name, seen);
  }
  if (stream != nullptr) closedir(stream);
  // Mapped pages mostly belong to open files, so only the larger sum counts.
  usage.memory += std::max(shared, in_files);
  struct statvfs about;
  if (fstatvfs(disk, &about) == 0) {
    usage.disk = static_cast<std::uint64_t>(about.f_blocks - about.f_bfree) * about.f_frsize;
    usage.files = about.f_files - about.f_ffree;
  }
  return usage;
}

bool machine_is_short_of_memory() {
  const std::string text = text_of(AT_FDCWD, "/proc/meminfo");
  const std::uint64_t available = number_after(text, "MemAvailable:");
  return available != 0 && available < number_after(text, "MemTotal:") / 16;
}

}  // namespace warpgrind::sandbox
