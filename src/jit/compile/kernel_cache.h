// Compiled kernels on disk, a file each. The folder holds code that we run: it must be ours and nobody else may write
// to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace warpgrind::jit {

class KernelCache {
 public:
  // Kernels go to DIRECTORY/kernels, which is made where it is missing. Empty: no cache.
  explicit KernelCache(const std::string& directory);
  bool enabled() const { return enabled_; }
  // Why a folder that was asked for is not used; empty: it is, or none was asked for.
  const std::string& refusal() const { return refusal_; }

  std::optional<std::string> find(const std::string& key) const;  // nullopt: not there or damaged
  // A failure (full disk) only loses the speed-up. Kernels not used for longest make room when the folder grows beyond
  // `limit` bytes.
  void store(const std::string& key, std::string_view bytes, std::uint64_t limit = kLimit) const;
  static constexpr std::uint64_t kLimit = std::uint64_t{1} << 30;

 private:
  void evict(std::uint64_t limit) const;
  std::string path(const std::string& key) const { return directory_ + "/" + key; }

  std::string directory_, refusal_;
  bool enabled_ = false;
};

}  // namespace warpgrind::jit
