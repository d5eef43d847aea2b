#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace warpgrind {

namespace {

// All bytes, or false with the reason in errno. Closes the file.
bool write_and_close(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(file, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int reason = errno;
      ::close(file);
      errno = reason;
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return ::close(file) == 0;
}

bool write_to_stdout(std::string_view bytes) {
  const bool good = std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size();
  return std::fflush(stdout) == 0 && good;
}

bool write_in_place(const std::string& path, std::string_view bytes) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  return file >= 0 && write_and_close(file, bytes);
}

// The file that a rename may replace; empty: none. A device or a pipe takes the bytes itself, an open file behind
// /dev/stdout would keep its old contents, and a file of another user or with several names would lose them.
std::string replaceable(const std::string& path, mode_t* mode) {
  struct stat info {};
  if (path.starts_with("/dev/") || path.starts_with("/proc/")) return "";
  if (::lstat(path.c_str(), &info) != 0) return errno == ENOENT ? path : "";
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return "";
  if (info.st_nlink != 1 || info.st_uid != ::geteuid() || ::access(path.c_str(), W_OK) != 0) return "";
  *mode = info.st_mode & 07777;
  char* const real = ::realpath(path.c_str(), nullptr);  // a link stays a link
  std::string out = real ? real : "";
  std::free(real);
  return out;
}

}  // namespace

std::optional<std::string> read_whole(const std::string& path, std::size_t largest) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::string out;
  char part[1 << 16];  // read in parts: files of /proc report size 0
  ssize_t n = 0;
  while ((n = ::read(file, part, sizeof part)) > 0 || (n < 0 && errno == EINTR)) {
    if (n <= 0) continue;
    if (static_cast<std::size_t>(n) > largest - out.size()) break;
    out.append(part, static_cast<std::size_t>(n));
  }
  const int reason = n > 0 ? EFBIG : errno;
  ::close(file);
  errno = reason;
  if (n != 0) return std::nullopt;
  return out;
}

Status write_whole(const std::string& path, std::string_view bytes) {
  const auto result = [&](bool good) -> Status {
    if (good) return Ok{};
    return Error{ErrorKind::environment, fmt::format("cannot write {}: {}", path, std::strerror(errno)), {}};
  };
  if (path == "-") return result(write_to_stdout(bytes));
  constexpr mode_t kNew = 0;
  mode_t mode = kNew;
  const std::string target = replaceable(path, &mode);
  if (target.empty()) return result(write_in_place(path, bytes));
  static std::atomic<unsigned> serial{0};
  // In the same folder, under a name of its own: the file's name may be as long as a name can be.
  const std::string folder = target.substr(0, target.rfind('/') + 1);
  const std::string part = fmt::format("{}.warpgrind-{}-{}.part", folder, ::getpid(), serial++);
  const int file = ::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  // Only a folder in which nothing may be created: on a full disk the older file would be lost.
  if (file < 0) return result((errno == EACCES || errno == EPERM) && write_in_place(path, bytes));
  if (mode != kNew) (void)::fchmod(file, mode);
  if (write_and_close(file, bytes) && ::rename(part.c_str(), target.c_str()) == 0) return Ok{};
  const int reason = errno;
  ::unlink(part.c_str());
  errno = reason;
  return result(false);
}

}  // namespace warpgrind
