// Observer that counts the access patterns of each memory instruction: active lanes and their relative addresses.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "gpu/access_rules.h"
#include "gpu/tensor_map.h"
#include "observers/profile_observer.h"

namespace warpgrind::observers {

// Identity of a pattern: the active lanes, their offsets from the lowest address, and that address modulo 256 (shared
// memory: modulo one row of the banks).
struct PatternKey {
  std::array<std::int64_t, kWarpSize> offsets{};  // from the lowest address; 0 for inactive lanes
  LaneMask mask = 0;
  std::uint32_t alignment = 0;
  StateSpace space = StateSpace::global;
  friend bool operator==(const PatternKey&, const PatternKey&) = default;
  std::uint64_t hash() const;
};

// A box that a tensor copy has put into shared memory.
struct Tile {
  std::string function;              // of the copy
  std::uint32_t ptx_line = 0;        // likewise
  std::uint32_t file = 0, line = 0;  // likewise; line 0: unknown
  std::uint64_t begin = 0;           // first byte
  std::uint32_t rows = 0;
  std::uint32_t pitch = 0;  // bytes from one row to the next
  TensorSwizzle swizzle = TensorSwizzle::none;
  TensorElement element = TensorElement::u8;
  friend bool operator==(const Tile&, const Tile&) = default;
};

struct PatternCount {
  PatternKey key;
  std::uint64_t count = 0;
  AccessCost cost;
  // The example comes from the lowest block, and there from the lowest warp.
  Dim3 block;
  std::uint64_t block_index = ~0ull;
  std::uint32_t warp = 0;
  std::uint64_t base = 0;                     // lowest address of the example
  std::optional<AllocationRange> allocation;  // contains `base`; base_offset counts from its start
  std::uint64_t base_offset = 0;
  std::optional<Tile> tile;  // that holds all bytes of the example
};

struct SitePatterns {
  AccessType type = AccessType::load;
  std::uint32_t bytes = 4;             // per lane
  std::vector<PatternCount> patterns;  // most frequent first; always includes the worst and the best
  std::uint64_t other = 0;             // requests with other patterns
  std::uint32_t worst = 0, best = 0;   // indexes into patterns
};

// One instance per device, registered before the device's first launch. The result does not depend on the number of
// workers: the counts of the kept patterns are exact, and the choice of kept patterns depends on the patterns alone.
class AccessPatterns final : public ProfileObserver {
 public:
  static constexpr std::size_t kListed = 8;         // patterns of a site in the result
  static constexpr std::size_t kListedOfRange = 3;  // likewise, in a named range: the typical, the worst and the best

  explicit AccessPatterns(const Watched& watched);
  ~AccessPatterns() override;

  events::Wants wants() const override;
  events::Wants wants_of(const events::Launch& launch) override;
  void on_access(const events::Access& access, unsigned worker) override;
  void on_tensor_copy(const events::TensorCopyEvent& copy, unsigned worker) override;
  void on_block_end(const events::BlockEvent& block, unsigned worker) override;
  void on_launch_end(const events::Launch& launch, const events::LaunchCounts& counts) override;
  void contribute(results::Profile& profile) const override;

  // Patterns of all launches so far, by kernel (mangled name), function and PTX line of the instruction.
  using SiteKey = std::tuple<std::string, std::string, std::uint32_t>;
  std::map<SiteKey, SitePatterns> result() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace warpgrind::observers
