// How the requests of each memory instruction looked: which lanes, at which addresses relative to each other, how
// often.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "gpu/access_rules.h"
#include "observers/profile_observer.h"

namespace warpgrind::observers {

// Requests that look the same: the same lanes, offsets from the lowest address, and place of that in 256 bytes (shared
// memory: in a row of the banks).
struct PatternKey {
  std::array<std::int64_t, kWarpSize> offsets{};  // from the lowest address; 0 for lanes off
  LaneMask mask = 0;
  std::uint32_t alignment = 0;
  StateSpace space = StateSpace::global;
  friend bool operator==(const PatternKey&, const PatternKey&) = default;
  std::uint64_t hash() const;
};

struct PatternCount {
  PatternKey key;
  std::uint64_t count = 0;
  AccessCost cost;
  // The example: of the lowest block, and there of the lowest warp.
  Dim3 block;
  std::uint64_t block_index = ~0ull;
  std::uint32_t warp = 0;
  std::uint64_t base = 0;                     // its lowest address
  std::optional<AllocationRange> allocation;  // that the base lies in; base_offset is from its start
  std::uint64_t base_offset = 0;
};

struct SitePatterns {
  AccessType type = AccessType::load;
  std::uint32_t bytes = 4;             // a lane
  std::vector<PatternCount> patterns;  // the most frequent first; the worst and best are always among them
  std::uint64_t other = 0;             // requests with other patterns
  std::uint32_t worst = 0, best = 0;   // indexes into patterns
};

// One for each device, registered before its first launch. The result is the same for any number of workers: the counts
// of the patterns that are kept are exact, and which are kept depends on the patterns alone.
class AccessPatterns final : public ProfileObserver {
 public:
  static constexpr std::size_t kListed = 8;         // patterns of a site in the result
  static constexpr std::size_t kListedOfRange = 3;  // likewise, in a named range: the typical, the worst, the best one

  explicit AccessPatterns(const Watched& watched);
  ~AccessPatterns() override;

  events::Wants wants() const override { return {.counts = false, .accesses = true, .barriers = false}; }
  void on_access(const events::Access& access, unsigned worker) override;
  void on_launch_end(const events::Launch& launch, const events::LaunchCounts& counts) override;
  void contribute(results::Profile& profile) const override;

  // Over all launches so far: by kernel (mangled name), function and PTX line of the instruction.
  using SiteKey = std::tuple<std::string, std::string, std::uint32_t>;
  std::map<SiteKey, SitePatterns> result() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// What a kind of instruction is to the cost rules.

}  // namespace warpgrind::observers
