// The accesses of some blocks of a launch, in order: what the modelled caches are fed with (counters/cache_model.h).
// Machine code serves none of these itself (device/access/access_log.h), so that the others pay nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "events/cache_counts.h"
#include "gpu/access_rules.h"
#include "gpu/types.h"

namespace warpgrind::events {

// One request of a warp to global, constant or local memory; of a texture, what one group of its lanes reads.
struct LoggedAccess {
  // Lane l is at base + kx * (l % row) + ky * (l / row); or, with `lanes`, at base + BlockLog::offsets[kx + its place
  // among the lanes of the mask]. Global, constant: device addresses; local: offsets in the thread's; texture: where
  // the hardware keeps texels.
  std::uint64_t base = 0;
  std::int64_t kx = 0, ky = 0;
  LaneMask mask = 0;
  std::uint32_t site = 0;
  std::uint16_t warp = 0;
  std::uint8_t bytes = 4;  // of a lane
  StateSpace space = StateSpace::global;
  AccessType type = AccessType::load;
  bool lanes = false;
  bool first = true;  // textures: the first group of its instruction
};

struct BlockLog {
  std::uint64_t block = 0;  // linear
  Dim3 index{0, 0, 0};
  std::vector<LoggedAccess> accesses;
  std::vector<std::uint32_t> offsets;
  std::vector<std::uint32_t> taken;  // by warp: requests in `accesses`
  std::uint64_t left_out = 0;        // requests: a warp had too many, of which not all need be counted
  bool beside = false;               // logged for which memory it touches only: the SMs of the others would not run it
};

// Any number, the same at every run.
inline std::uint64_t mixed(std::uint64_t of) {
  if (of == 0) return 0;
  std::uint64_t x = of * 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  return x ^ x >> 31;
}
// The SM that runs a block, of `sms`: the first as many blocks go to the SMs in order; then each goes where one has
// ended, which is taken to be anywhere. On an H200 15 of the 124 pairs of blocks that shared an SM in a grid of 16 x 16
// were of one row or column, as of pairs drawn at random (tests/data/h200/micro_matmul.csv: tiled16).
inline std::uint64_t sm_of_block(std::uint64_t block, std::uint64_t sms) {
  return (block % sms + mixed(block / sms) % sms) % sms;
}

// SMs whose requests for one line at one time are one request to L2. Consecutive blocks go to `parts` parts of the GPU
// in turn; `together` neighbours of a part share. Figures of the GPU model.
struct SmGroups {
  std::uint64_t parts = 1, together = 1;
  std::uint64_t of(std::uint64_t sm) const { return sm % parts + parts * (sm / parts / together); }
};

struct AccessLog {
  mutable std::vector<BlockLog> blocks;  // in order of their numbers
  // By site: the allocation that it accessed in the first of these blocks, [first, second); nothing: {0, 0}.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  Dim3 grid{1, 1, 1};
  std::uint32_t warps_per_block = 1;
  unsigned row = kWarpSize;       // lanes, of affine accesses
  std::uint64_t local_bytes = 0;  // of a thread

  // A launch that repeats another with the same arguments has its log: made once, by whoever comes first, who may drop
  // the blocks.
  mutable std::uint64_t sectors = 0;  // of the whole launch, logged or not
  mutable std::once_flag modelled;
  mutable CacheCounts caches;
};

}  // namespace warpgrind::events
