#include "jit/compile/kernel_cache.h"

#include <fcntl.h>
#include <llvm/Support/BLAKE3.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/raw_ostream.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <vector>

namespace warpgrind::jit {

namespace {

constexpr std::size_t kDigestBytes = 32;

std::string digest(llvm::StringRef data) {
  llvm::BLAKE3 hash;
  hash.update(data);
  const auto result = hash.final();
  return std::string(reinterpret_cast<const char*>(result.data()), result.size());
}

}  // namespace

KernelCache::KernelCache(const std::string& directory) {
  if (directory.empty()) return;
  directory_ = directory + "/kernels";
  if (llvm::sys::fs::create_directories(directory) ||
      llvm::sys::fs::create_directory(directory_, /*IgnoreExisting=*/true, llvm::sys::fs::owner_all))
    return;  // no home folder, a full disk: as without a cache
  struct stat folder {};
  if (lstat(directory_.c_str(), &folder) != 0) return;
  if (!S_ISDIR(folder.st_mode))
    refusal_ = directory_ + " is no folder";
  else if (folder.st_uid != geteuid())
    refusal_ = directory_ + " belongs to another user";
  else if (folder.st_mode & (S_IWGRP | S_IWOTH))
    refusal_ = directory_ + " can be written by others (chmod go-w)";
  enabled_ = refusal_.empty();
}

// File: the digest of what follows, then what pack() gave. A damaged file is as good as none.
std::unique_ptr<llvm::MemoryBuffer> KernelCache::find(const std::string& key) const {
  if (!enabled_) return nullptr;
  auto file = llvm::MemoryBuffer::getFile(path(key), /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file || (*file)->getBufferSize() <= kDigestBytes) return nullptr;
  const llvm::StringRef whole = (*file)->getBuffer();
  const llvm::StringRef bytes = whole.drop_front(kDigestBytes);
  if (digest(bytes) != whole.take_front(kDigestBytes)) return nullptr;
  utimensat(AT_FDCWD, path(key).c_str(), nullptr, 0);  // used now: evict() goes by this
  return llvm::MemoryBuffer::getMemBufferCopy(bytes, "cached kernel");
}

void KernelCache::store(const std::string& key, llvm::StringRef bytes, std::uint64_t limit) const {
  if (!enabled_) return;
  static std::atomic<std::uint64_t> serial{0};
  const std::string temporary = path(key) + "." + std::to_string(getpid()) + "." + std::to_string(serial++);
  std::error_code problem;
  {
    llvm::raw_fd_ostream out(temporary, problem);
    if (problem) return;
    out << digest(bytes) << bytes;
    out.flush();
    if (out.has_error()) {
      out.clear_error();
      llvm::sys::fs::remove(temporary);
      return;
    }
  }
  if (llvm::sys::fs::rename(temporary, path(key))) llvm::sys::fs::remove(temporary);
  evict(limit);
}

// Down to three quarters of the limit, so that it is not done for every kernel.
void KernelCache::evict(std::uint64_t limit) const {
  struct File {
    std::string path;
    std::uint64_t bytes = 0;
    llvm::sys::TimePoint<> used;
  };
  std::vector<File> files;
  std::uint64_t total = 0;
  std::error_code problem;
  for (llvm::sys::fs::directory_iterator at(directory_, problem), end; at != end && !problem; at.increment(problem)) {
    const auto status = at->status();
    if (!status || status->type() != llvm::sys::fs::file_type::regular_file) continue;
    files.push_back({at->path(), status->getSize(), status->getLastModificationTime()});
    total += status->getSize();
  }
  if (total <= limit) return;
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.used < b.used; });
  for (const File& file : files) {
    if (total <= limit / 4 * 3) return;
    if (!llvm::sys::fs::remove(file.path)) total -= file.bytes;
  }
}

}  // namespace warpgrind::jit
