// Temporary folders with a lock file: a folder whose lock is free was left by a process that died.
#include "base/temporary_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace warpgrind {

namespace fs = std::filesystem;

namespace {

constexpr const char* kPrefix = "warpgrind-";
constexpr const char* kLock = "/lock";

// Creates the lock file under another name, locks it and then renames it. So a file of the final name that is not
// locked has lost its owner.
int make_lock(const std::string& folder) {
  const std::string unnamed = folder + "/lock.new", named = folder + kLock;
  const int file = open(unnamed.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0 && (flock(file, LOCK_EX) != 0 || rename(unnamed.c_str(), named.c_str()) != 0)) {
    close(file);
    return -1;
  }
  return file;
}

void remove_abandoned(const std::string& parent) {
  std::error_code problem;
  for (fs::directory_iterator at(parent, problem), end; !problem && at != end; at.increment(problem)) {
    const std::string folder = at->path().string();
    if (!at->path().filename().string().starts_with(kPrefix)) continue;
    struct stat info {};
    if (lstat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != geteuid()) continue;
    const int file = open((folder + kLock).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) continue;
    std::error_code ignored;
    if (flock(file, LOCK_EX | LOCK_NB) == 0) fs::remove_all(folder, ignored);
    close(file);
  }
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  const char* chosen = std::getenv("TMPDIR");
  const std::string parent = chosen && *chosen ? chosen : "/tmp";
  remove_abandoned(parent);
  std::string pattern = parent + "/" + kPrefix + "XXXXXX";
  if (mkdtemp(pattern.data())) {
    path = pattern;
    lock_ = make_lock(path);
  } else {
    problem = "cannot make a temporary folder in " + parent + ": " + std::strerror(errno);
  }
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path.empty()) fs::remove_all(path, ignored);
  if (lock_ >= 0) close(lock_);
}

}  // namespace warpgrind
