// Dynamic counts of one launch, summed over workers. The counters folder turns them into metrics.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "events/block_work.h"
#include "events/cache_counts.h"
#include "gpu/access_rules.h"
#include "gpu/types.h"

namespace warpgrind::events {

struct AccessLog;

struct SiteCounts {
  std::uint64_t requests = 0;  // executed warp instructions with at least one active lane
  std::uint64_t lanes = 0;     // active lanes, summed
  AccessCost global;           // accesses to global (or constant) memory, by the model's rules
  AccessCost shared;           // ... shared memory
  AccessCost local;            // ... local memory
  // Cost of the whole merged access, if ptxas merges this access with its neighbours (sass::Instruction::bytes).
  AccessCost joint;
  std::uint64_t global_requests = 0, shared_requests = 0, local_requests = 0;  // generic sites may hit several spaces
  std::uint64_t global_lanes = 0, shared_lanes = 0, local_lanes = 0;
  // Bulk and tensor copies to shared memory: different places that a block copies to, summed over the blocks. A place
  // counts at the site that used it first. All sites together: a block has at most this many copies under way.
  std::uint64_t copy_places = 0;
  void add(const SiteCounts& other);
  // Adds `times` instructions by the lanes `mask` that went to `space` in `parts` requests, each at this cost. Constant
  // memory and textures count as global.
  void add(StateSpace space, const AccessCost& cost, LaneMask mask, std::uint64_t times = 1, std::uint64_t parts = 1);
  bool operator==(const SiteCounts&) const = default;
};

struct BlockCounts {
  std::uint64_t warps = 0;  // times a warp executed the block
  std::uint64_t lanes = 0;  // active lanes, summed
  bool operator==(const BlockCounts&) const = default;
};

struct BranchCounts {
  std::uint64_t executed = 0;   // warp-level executions
  std::uint64_t divergent = 0;  // active lanes went different ways
  std::uint64_t taken_lanes = 0;
  std::uint64_t taken = 0;  // warps with a lane that took it; the three give the warps per direction
  bool operator==(const BranchCounts&) const = default;
};

// Machine instructions that warps executed because the operands of a lane need the slow path, beyond those of the
// usual path. In the order of the scoreboard.
struct SlowPathCounts {
  std::uint64_t warps = 0;  // executions in which at least one lane took it
  std::uint64_t instructions = 0, thread_instructions = 0;
  std::uint64_t alu = 0, fma = 0, fp64 = 0, special = 0;  // of `instructions`, by pipe
  void add(const SlowPathCounts& other);
  bool operator==(const SlowPathCounts&) const = default;
};

struct LaunchCounts {
  std::vector<SiteCounts> sites;  // index as in KernelFacts::sites
  std::vector<BlockCounts> blocks;
  std::vector<std::uint64_t> guard_lanes;  // active lanes
  std::vector<BranchCounts> branches;
  std::vector<SlowPathCounts> slow_paths;
  std::vector<BlockCounts> edges;  // by EdgeFacts::counter
  std::uint64_t warps_launched = 0, threads_launched = 0;
  std::uint64_t blocks_run = 0;           // blocks that ran; the counts are scaled from them; 0: all ran
  std::shared_ptr<const AccessLog> log;   // of some blocks, for the modelled caches; null: not requested
  std::optional<CacheCounts> caches;      // their results
  std::shared_ptr<const BlockWork> work;  // null: not recorded
  void add(const LaunchCounts& other);    // element-wise; sizes must agree
};

}  // namespace warpgrind::events
