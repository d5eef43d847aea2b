// Watching a run. An observer says at compile time what it wants (wants()); the JIT emits the union, nothing wanted
// costs nothing. One event is one WARP instruction: site, lanes on, 32 addresses.
#pragma once

#include <cstdint>
#include <span>

#include "events/scoreboard.h"
#include "events/site.h"
#include "gpu/types.h"

namespace warpgrind::ptx {
struct Module;
}

namespace warpgrind::events {

struct Wants {
  bool counts = false;    // LaunchCounts at the end of each launch (inline adds: nearly free)
  bool accesses = false;  // on_access for every warp-wide memory instruction (no inline fast path: slow)
  bool barriers = false;
  bool edges = false;  // LaunchCounts::edges: which way each branch went (inline adds)
  Wants operator|(const Wants& o) const {
    return {counts || o.counts, accesses || o.accesses, barriers || o.barriers, edges || o.edges};
  }
};

struct Launch {
  std::uint64_t id = 0;  // 0, 1, 2 ... in issue order
  const KernelFacts* facts = nullptr;
  const ptx::Module* module = nullptr;  // the kernel's; it outlives the launch
  Dim3 grid, block;
  std::uint64_t dynamic_shared = 0;
  int device = 0;
};

struct Access {
  const Launch* launch = nullptr;
  std::uint32_t site = 0;
  StateSpace space = StateSpace::global;  // resolved: never generic
  Dim3 block;                             // ctaid
  std::uint32_t warp = 0;                 // index in the block
  LaneMask mask = 0;
  std::span<const std::uint64_t, kWarpSize> addresses;  // global: device addresses; shared, local: offsets
};

// Callbacks may come from several worker threads at once (worker: 0..n-1); those of one block come from one worker at a
// time.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual Wants wants() const = 0;
  virtual void on_launch_begin(const Launch&) {}
  virtual void on_access(const Access&, unsigned /*worker*/) {}
  virtual void on_barrier(const Launch&, const Dim3& /*block*/, std::uint32_t /*warp*/, std::uint32_t /*barrier*/,
                          unsigned /*worker*/) {}
  virtual void on_launch_end(const Launch&, const LaunchCounts&) {}
};

}  // namespace warpgrind::events
