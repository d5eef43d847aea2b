// What the caches of the SMs make of the blocks that were logged: each SM's blocks side by side, their warps in turn,
// and SMs whose requests meet together.
#pragma once

#include <cstdint>
#include <vector>

#include "counters/cache_model.h"
#include "counters/footprint.h"

namespace warpgrind::counters {

// Of a site, in the blocks that were looked at.
struct Tally {
  double requests = 0, fresh = 0, passes = 0;
  // Sectors looked up in L1, found, passed on to L2; lines of these.
  double sectors = 0, hits = 0, below = 0, below_lines = 0;
  void add(const Tally& o) {
    requests += o.requests;
    fresh += o.fresh;
    passes += o.passes;
    sectors += o.sectors;
    hits += o.hits;
    below += o.below;
    below_lines += o.below_lines;
  }
};

enum class Use : std::uint8_t { read, written, atomic };
constexpr unsigned kUses = 3;
inline Use use_of(AccessType type) {
  return type == AccessType::load ? Use::read : type == AccessType::store ? Use::written : Use::atomic;
}

struct SiteSeen {
  Tally global, local, texture;
  std::vector<BlockStretches> blocks;
  Use use = Use::read;
  // The same lanes elsewhere take as many passes.
  events::LoggedAccess last;
  unsigned last_passes = 0;
};

struct Replayed {
  std::vector<SiteSeen> sites;
  double blocks = 0, requests = 0;
  events::DistinctStretches read_by_block, written_by_block;
  double partly_written = 0;  // sectors, by block
  SectorSet constants;        // stretches of 64 bytes
};
Replayed replay(const GpuModel& model, const CacheSizes& sizes, const events::KernelFacts& facts,
                const events::AccessLog& log);

}  // namespace warpgrind::counters
