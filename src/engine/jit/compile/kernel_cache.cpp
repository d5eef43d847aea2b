// Kernel cache: one file per kernel, named by its key.
#include "jit/compile/kernel_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <vector>

#include "base/digest.h"
#include "base/file.h"

namespace warpgrind::jit {

namespace {
namespace fs = std::filesystem;
constexpr std::size_t kDigestBytes = 32;
constexpr const char* kSeconds = "-seconds";

// Bytes that this process may write to each folder before it looks again whether the folder is full. To look takes 60
// ms with 16,000 kernels.
struct Rooms {
  std::mutex mutex;
  std::map<std::string, std::int64_t> by_folder;
};
Rooms& rooms() {
  static Rooms& all = *new Rooms;
  return all;
}

// The bytes of a file that store_packed() compressed, others as they are. nullopt: damaged.
std::optional<std::string> expanded(std::string_view bytes) {
  constexpr std::uint32_t kMagic = ZSTD_MAGICNUMBER;
  constexpr unsigned long long kMost = 1ull << 30;
  if (bytes.size() < sizeof kMagic || std::memcmp(bytes.data(), &kMagic, sizeof kMagic) != 0) return std::string(bytes);
  const unsigned long long size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  if (size > kMost) return std::nullopt;  // also what stands for an error, or for an unknown size
  std::string out(size, '\0');
  if (ZSTD_decompress(out.data(), out.size(), bytes.data(), bytes.size()) != size) return std::nullopt;
  return out;
}
}  // namespace

KernelCache::KernelCache(const std::string& directory) {
  if (directory.empty()) return;
  directory_ = directory + "/kernels";
  std::error_code problem;
  fs::create_directories(directory, problem);
  if (::mkdir(directory_.c_str(), S_IRWXU) != 0 && errno != EEXIST)
    return;  // no home folder, a full disk: run without a cache
  struct stat folder {};
  if (lstat(directory_.c_str(), &folder) != 0) return;
  if (!S_ISDIR(folder.st_mode))
    refusal_ = directory_ + " is not a folder";
  else if (folder.st_uid != geteuid())
    refusal_ = directory_ + " belongs to another user";
  else if (folder.st_mode & (S_IWGRP | S_IWOTH))
    refusal_ = directory_ + " can be written by others (chmod go-w)";
  enabled_ = refusal_.empty();
}

KernelCache KernelCache::prepared(const std::string& directory) {
  KernelCache out;
  out.directory_ = directory + "/kernels";
  struct stat folder {};
  struct stat installation {};
  if (directory.empty() || lstat(out.directory_.c_str(), &folder) != 0) return out;
  if (stat(fs::path(directory).parent_path().c_str(), &installation) != 0) return out;
  const bool trusted = folder.st_uid == 0 || folder.st_uid == geteuid() || folder.st_uid == installation.st_uid;
  if (!S_ISDIR(folder.st_mode) || !trusted)
    out.refusal_ = out.directory_ + " belongs to another user";
  else if (folder.st_mode & (S_IWGRP | S_IWOTH))
    out.refusal_ = out.directory_ + " can be written by others (chmod go-w)";
  out.enabled_ = out.refusal_.empty();
  return out;
}

// File format: a digest of the following bytes, then the bytes that pack() made, in packages compressed by zstd. A
// damaged file counts as missing.
std::optional<std::string> KernelCache::find(const std::string& key) const {
  if (!enabled_) return std::nullopt;
  std::optional<std::string> file = read_whole(path(key));
  if (!file || file->size() <= kDigestBytes) return std::nullopt;
  const std::string_view bytes = std::string_view(*file).substr(kDigestBytes);
  if (digest(bytes) != std::string_view(*file).substr(0, kDigestBytes)) return std::nullopt;
  utimensat(AT_FDCWD, path(key).c_str(), nullptr, 0);  // marks it as used now; evict() reads this time
  return expanded(bytes);
}

void KernelCache::store(const std::string& key, std::string_view bytes, std::uint64_t limit) const {
  if (!write(key, bytes)) return;
  // Other processes fill the folder, too.
  constexpr std::uint64_t kParts = 16;
  const std::lock_guard lock(rooms().mutex);
  std::int64_t& room = rooms().by_folder[directory_];
  room -= static_cast<std::int64_t>(kDigestBytes + bytes.size());
  if (room >= 0) return;
  const std::uint64_t total = evict(limit);
  room = static_cast<std::int64_t>(std::min(limit / kParts, limit - std::min(limit, total)));
}

bool KernelCache::write(const std::string& key, std::string_view bytes) const {
  return enabled_ && write_whole(path(key), digest(bytes).append(bytes));
}

bool KernelCache::store_packed(const std::string& key, std::string_view bytes) const {
  constexpr int kLevel = 12;  // 18 times smaller; level 3: 12 times
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size = ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), kLevel);
  return !ZSTD_isError(size) && write(key, std::string_view(packed).substr(0, size));
}

double KernelCache::seconds_run(const std::string& key) const {
  double seconds = 0;
  if (const auto bytes = find(key + kSeconds); bytes && bytes->size() == sizeof seconds)
    std::memcpy(&seconds, bytes->data(), sizeof seconds);
  return seconds;
}

void KernelCache::store_seconds(const std::string& key, double seconds) const {
  static_cast<void>(write(key + kSeconds, {reinterpret_cast<const char*>(&seconds), sizeof seconds}));
}

// Removes files down to three quarters of the limit, so that this is not necessary for every kernel.
std::uint64_t KernelCache::evict(std::uint64_t limit) const {
  struct File {
    fs::path path;
    std::uint64_t bytes = 0;
    fs::file_time_type used;
  };
  std::vector<File> files;
  std::uint64_t total = 0;
  std::error_code problem;
  for (fs::directory_iterator at(directory_, problem), end; at != end && !problem; at.increment(problem)) {
    std::error_code gone;  // another process may remove files as well
    if (!at->is_regular_file(gone)) continue;
    File file{at->path(), at->file_size(gone), {}};
    if (!gone) file.used = at->last_write_time(gone);
    if (gone) continue;
    total += file.bytes;
    files.push_back(std::move(file));
  }
  if (total <= limit) return total;
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.used < b.used; });
  for (const File& file : files) {
    if (total <= limit / 4 * 3) break;
    if (fs::remove(file.path, problem)) total -= file.bytes;
  }
  return total;
}

}  // namespace warpgrind::jit
