// Disk cache of compiled kernels, one file each. The folder holds code that we run: it must be ours, and no other user
// may have write access.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace warpgrind::jit {

class KernelCache {
 public:
  // Stores kernels in DIRECTORY/kernels and creates it if missing. Empty: no cache.
  explicit KernelCache(const std::string& directory);
  // Kernels of DIRECTORY/kernels that are only read: `warpgrind prepare` put them into the installation. The folder
  // must be root's, ours, or that of the installation's owner.
  static KernelCache prepared(const std::string& directory);
  bool enabled() const { return enabled_; }
  // Reason why the requested folder is not used. Empty: it is used, or none was requested.
  const std::string& refusal() const { return refusal_; }

  std::optional<std::string> find(const std::string& key) const;  // nullopt: missing or damaged
  // A failure (full disk) only loses the speed-up. If the folder exceeds `limit` bytes, the kernels unused for longest
  // are removed. Several processes together may exceed it by a sixteenth each.
  void store(const std::string& key, std::string_view bytes, std::uint64_t limit = kLimit) const;
  // The same for a package, which should be small: compressed, and never removed. False: it could not be written.
  bool store_packed(const std::string& key, std::string_view bytes) const;
  // Seconds that a kernel's quick code has run in earlier processes (0: none is stored). Two processes at the same time
  // may lose what one of them adds.
  double seconds_run(const std::string& key) const;
  void store_seconds(const std::string& key, double seconds) const;
  static constexpr std::uint64_t kLimit = std::uint64_t{1} << 30;

 private:
  KernelCache() = default;
  bool write(const std::string& key, std::string_view bytes) const;
  std::uint64_t evict(std::uint64_t limit) const;  // bytes that are left in the folder
  std::string path(const std::string& key) const { return directory_ + "/" + key; }

  std::string directory_, refusal_;
  bool enabled_ = false;
};

}  // namespace warpgrind::jit
