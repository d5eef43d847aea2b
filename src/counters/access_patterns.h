// How the requests of each memory instruction looked: which lanes, at which addresses relative to each other, how
// often.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "events/observer.h"
#include "gpu/access_rules.h"

namespace warpgrind::counters {

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
  std::uint64_t base = 0;                   // its lowest address
  std::optional<std::uint32_t> allocation;  // that the base lies in; base_offset is from its start
  std::uint64_t base_offset = 0;
};

struct SitePatterns {
  AccessType type = AccessType::load;
  std::uint32_t bytes = 4;             // a lane
  std::vector<PatternCount> patterns;  // the most frequent first; the worst and best are always among them
  std::uint64_t other = 0;             // requests with other patterns
  std::uint32_t worst = 0, best = 0;   // indexes into patterns
};

struct PatternAllocation {
  std::uint32_t id = 0;
  std::uint64_t address = 0, bytes = 0;
};

// One for each device, registered before its first launch. The result is the same for any number of workers: the counts
// of the patterns that are kept are exact, and which are kept depends on the patterns alone.
class AccessPatterns : public events::Observer {
 public:
  static constexpr std::size_t kListed = 8;  // patterns of a site in the result

  // Finds the allocation that holds an address: its first address and size.
  using FindAllocation = std::function<std::optional<std::pair<std::uint64_t, std::uint64_t>>(std::uint64_t)>;
  AccessPatterns(const AccessRules& rules, FindAllocation find_allocation);
  ~AccessPatterns() override;

  events::Wants wants() const override { return {.counts = false, .accesses = true, .barriers = false}; }
  void on_access(const events::Access& access, unsigned worker) override;
  void on_launch_end(const events::Launch& launch, const events::LaunchCounts& counts) override;

  // Over all launches so far: by kernel (mangled name), function and PTX line of the instruction.
  using SiteKey = std::tuple<std::string, std::string, std::uint32_t>;
  std::map<SiteKey, SitePatterns> result() const;
  const std::vector<PatternAllocation>& allocations() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// What a kind of instruction is to the cost rules.
AccessType access_type(const events::Site& site);

}  // namespace warpgrind::counters
