// The dynamic counts of one launch, summed over workers: what the counters folder turns into metrics.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "events/cache_counts.h"
#include "gpu/access_rules.h"
#include "gpu/types.h"

namespace warpgrind::events {

struct AccessLog;

struct SiteCounts {
  std::uint64_t requests = 0;  // executed warp instructions with at least one lane on
  std::uint64_t lanes = 0;     // lanes on, summed
  AccessCost global;           // accesses that went to global (or constant) memory, by the model's rules
  AccessCost shared;           // ... shared memory
  AccessCost local;            // ... local memory
  // Where ptxas makes one access of this and its neighbours (machine::Instruction::bytes): of the whole.
  AccessCost joint;
  std::uint64_t global_requests = 0, shared_requests = 0, local_requests = 0;  // generic sites may hit several spaces
  std::uint64_t global_lanes = 0, shared_lanes = 0, local_lanes = 0;
  void add(const SiteCounts& other);
  // `times` instructions of `mask`'s lanes that went to `space` in `parts` requests, at this cost each. Constant memory
  // and textures count as global.
  void add(StateSpace space, const AccessCost& cost, LaneMask mask, std::uint64_t times = 1, std::uint64_t parts = 1);
  bool operator==(const SiteCounts&) const = default;
};

struct BlockCounts {
  std::uint64_t warps = 0;  // times a warp went through the block
  std::uint64_t lanes = 0;  // lanes on, summed
  bool operator==(const BlockCounts&) const = default;
};

struct BranchCounts {
  std::uint64_t executed = 0;   // warp-level executions
  std::uint64_t divergent = 0;  // active lanes went different ways
  std::uint64_t taken_lanes = 0;
  std::uint64_t taken = 0;  // warps of which some lane took it: with `executed` and `divergent` both ways are known
  bool operator==(const BranchCounts&) const = default;
};

struct LaunchCounts {
  std::vector<SiteCounts> sites;  // index as in KernelFacts::sites
  std::vector<BlockCounts> blocks;
  std::vector<std::uint64_t> guard_lanes;  // lanes on
  std::vector<BranchCounts> branches;
  std::vector<BlockCounts> edges;  // by EdgeFacts::counter
  std::uint64_t warps_launched = 0, threads_launched = 0;
  std::uint64_t blocks_run = 0;          // the counts are scaled from so many blocks; 0: all have run
  std::shared_ptr<const AccessLog> log;  // of some blocks, for the modelled caches; null: not asked for
  std::optional<CacheCounts> caches;     // what they made of it
  void add(const LaunchCounts& other);   // element-wise; sizes must agree
};

}  // namespace warpgrind::events
