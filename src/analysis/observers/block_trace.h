// Observer that traces all memory accesses of one block of each kernel's first launch, in execution order. The trace
// shows which thread touches which element between which barriers.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "observers/profile_observer.h"

namespace warpgrind::observers {

struct TraceEvent {
  std::string function;                             // function and ptx_line identify the site
  std::uint32_t ptx_line = 0, warp = 0, phase = 0;  // phase: barriers that the warp has passed
  LaneMask mask = 0;
  StateSpace space = StateSpace::global;
  std::array<std::uint64_t, kWarpSize> addresses{};  // as in events::Access; 0 for inactive lanes
  // The allocation at the time of the access.
  std::optional<AllocationRange> allocation;
};

struct Trace {
  Dim3 block;
  std::vector<TraceEvent> events;
  std::uint64_t left_out = 0;  // events beyond kMostEvents
};

class BlockTrace final : public ProfileObserver {
 public:
  static constexpr std::size_t kMostEvents = 4096;

  explicit BlockTrace(const Watched& watched) : watched_(watched), block_(watched.trace_block) {}
  events::Wants wants() const override { return {.counts = false, .accesses = true, .barriers = true}; }
  void on_launch_begin(const events::Launch& launch) override;
  void on_launch_end(const events::Launch& launch, const events::LaunchCounts& counts) override;
  void on_access(const events::Access& access, unsigned worker) override;
  void on_barrier(const events::Barrier& barrier, unsigned worker) override;
  void contribute(results::Profile& profile) const override;

  // By mangled name. A kernel whose grid does not have the block has no trace.
  const std::map<std::string, Trace>& traces() const { return traces_; }

 private:
  struct Running {  // a traced launch; only one worker at a time runs its block
    Trace* trace = nullptr;
    std::vector<std::uint32_t> phases;  // by warp
  };
  Running* running(std::uint64_t launch, const Dim3& block);

  Watched watched_;
  Dim3 block_;
  std::map<std::string, Trace> traces_;
  std::mutex mutex_;                         // protects the map `traced_`, not its elements
  std::map<std::uint64_t, Running> traced_;  // by Launch::id
};

}  // namespace warpgrind::observers
