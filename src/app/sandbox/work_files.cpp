// Copies of a job's files into a box and out of it.
#include "sandbox/work_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <vector>

#include "base/descriptor.h"

namespace warpgrind::sandbox {

namespace {

struct Budget {
  std::uint64_t bytes;
  std::uint64_t file_bytes;
  int files;
  int owner;
  std::vector<std::string> too_large = {};
};

constexpr int kDeepest = 32;  // folders; the job may make paths of thousands

std::vector<std::string> names_in(int folder) {
  std::vector<std::string> names;
  int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);  // the stream takes ownership
  DIR* stream = again >= 0 ? fdopendir(again) : nullptr;
  if (stream == nullptr) return names;
  while (const dirent* entry = readdir(stream)) {
    std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(std::move(name));
  }
  closedir(stream);
  return names;
}

Error failure(const std::string& name, const char* what) {
  return Error{ErrorKind::environment, fmt::format("sandbox: '{}' {}: {}", name, what, std::strerror(errno)), ""};
}

// Makes files as another user, if this process is root. root cannot make files in a box, which has no such user.
class As {
 public:
  explicit As(int user) : other_(user >= 0) {
    if (!other_) return;
    setfsgid(user);
    setfsuid(user);
  }
  ~As() {
    if (!other_) return;
    setfsuid(geteuid());
    setfsgid(getegid());
  }
  As(const As&) = delete;
  As& operator=(const As&) = delete;

 private:
  bool other_;
};

int make_file(int folder, const std::string& name, mode_t mode, int owner) {
  As as(owner);
  unlinkat(folder, name.c_str(), 0);  // never write through an existing link or into a pipe
  return openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
}

bool make_folder(int folder, const std::string& name, int owner) {
  As as(owner);
  return mkdirat(folder, name.c_str(), 0755) == 0 || errno == EEXIST;
}

Status copy_file(int from, int to, const std::string& name, mode_t mode, Budget& budget) {
  Descriptor source(openat(from, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (source.get() < 0) return Ok{};  // unreadable, or meanwhile a link
  Descriptor target(make_file(to, name, (mode & S_IXUSR) != 0 ? 0755 : 0644, budget.owner));
  if (target.get() < 0) return failure(name, "cannot be written");
  std::array<char, 1 << 16> buffer;
  while (budget.bytes > 0) {
    const ssize_t got = read(source.get(), buffer.data(), std::min<std::uint64_t>(buffer.size(), budget.bytes));
    if (got <= 0) break;
    if (write(target.get(), buffer.data(), got) != got) return failure(name, "cannot be written");
    budget.bytes -= got;
  }
  return Ok{};
}

// `path`: of the folder, from the work folder on, with / at its end.
Status copy_folder(int from, int to, const std::string& path, int depth, Budget& budget,
                   const std::vector<std::string>& taken) {
  for (const std::string& name : names_in(from)) {
    if (!taken.empty() && std::find(taken.begin(), taken.end(), name) == taken.end()) continue;
    struct stat about;
    if (fstatat(from, name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (budget.files-- <= 0 || budget.bytes == 0) return Ok{};
    Status done = Ok{};
    if (S_ISREG(about.st_mode)) {
      if (static_cast<std::uint64_t>(about.st_size) > std::min(budget.file_bytes, budget.bytes)) {
        budget.too_large.push_back(path + name);
        continue;
      }
      done = copy_file(from, to, name, about.st_mode, budget);
    } else if (S_ISDIR(about.st_mode) && depth < kDeepest) {
      if (!make_folder(to, name, budget.owner)) return failure(name, "cannot be made");
      Descriptor inner(openat(from, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      Descriptor outer(openat(to, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (inner.get() < 0 || outer.get() < 0) continue;
      done = copy_folder(inner.get(), outer.get(), path + name + "/", depth + 1, budget, {});
    }
    if (!done) return done;
  }
  return Ok{};
}

}  // namespace

Status copy_in(const std::filesystem::path& from, int box, int owner) {
  Descriptor folder(open(from.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() < 0) return failure(from.string(), "cannot be read");
  constexpr auto kAny = std::numeric_limits<std::uint64_t>::max();
  Budget budget{kAny, kAny, std::numeric_limits<int>::max(), owner};
  return copy_folder(folder.get(), box, "", 0, budget, {});
}

Result<std::vector<std::string>> copy_out(int box, const std::filesystem::path& to,
                                          const std::vector<std::string>& taken, const Limits& limits) {
  Descriptor folder(open(to.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() < 0) return failure(to.string(), "cannot be read");
  Budget budget{limits.disk_bytes, limits.file_bytes, limits.files, -1};
  if (Status done = copy_folder(box, folder.get(), "", 0, budget, taken); !done) return done.error();
  return std::move(budget.too_large);
}

}  // namespace warpgrind::sandbox
