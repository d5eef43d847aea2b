// Ordered log of the accesses of some blocks of a launch: the input of the modelled caches (counters/cache_model.h).
// Machine code performs none of these accesses itself (device/access/access_log.h), so the other blocks pay nothing.
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

// One request of a warp to global, constant or local memory; for textures, the texels that one group of lanes reads.
struct LoggedAccess {
  // Lane l is at base + kx * (l % row) + ky * (l / row). With `lanes`, it is at base + BlockLog::offsets[kx + n], where
  // n counts the lanes of the mask below l. Global, constant: device addresses. Local: offsets in the thread's local
  // memory. Texture: addresses in the hardware's layout.
  std::uint64_t base = 0;
  std::int64_t kx = 0, ky = 0;
  LaneMask mask = 0;
  std::uint32_t site = 0;
  std::uint16_t warp = 0;
  std::uint8_t bytes = 4;  // per lane
  StateSpace space = StateSpace::global;
  AccessType type = AccessType::load;
  bool lanes = false;
  bool first = true;  // textures: first group of its instruction
};

struct BlockLog {
  std::uint64_t block = 0;  // linear
  Dim3 index{0, 0, 0};
  std::vector<LoggedAccess> accesses;
  std::vector<std::uint32_t> offsets;
  std::vector<std::uint32_t> taken;  // by warp: number of requests in `accesses`
  std::uint64_t left_out = 0;        // requests not logged, because a warp had too many (a lower bound)
  bool beside = false;  // logged only for the memory that it touches; the SMs of the other blocks would not run it
};

// Reproducible hash, the same in every run.
inline std::uint64_t mixed(std::uint64_t of) {
  if (of == 0) return 0;
  std::uint64_t x = of * 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  return x ^ x >> 31;
}
// The SM (of `sms`) that runs a block. The first `sms` blocks go to the SMs in order. Each later block goes to the SM
// where one has ended, which is modelled as random. On an H200, 15 of the 124 pairs of blocks that shared an SM in a 16
// x 16 grid were in one row or column, as for pairs drawn at random (tests/data/h200/micro_matmul.csv: tiled16).
inline std::uint64_t sm_of_block(std::uint64_t block, std::uint64_t sms) {
  return (block % sms + mixed(block / sms) % sms) % sms;
}

// Groups of SMs whose simultaneous requests for one line become one request to L2. Consecutive blocks go to `parts`
// parts of the GPU in turn; `together` neighbours of a part share. Values come from the GPU model.
struct SmGroups {
  std::uint64_t parts = 1, together = 1;
  std::uint64_t of(std::uint64_t sm) const { return sm % parts + parts * (sm / parts / together); }
};

// Parts of a site's accesses that go to memory behind a link, of the logged ones: 0 to 1. The rest goes to the GPU's
// own memory; managed memory counts as such.
struct FarAccesses {
  double host = 0;  // host memory that kernels may access
  double peer = 0;  // memory of another GPU
  bool operator==(const FarAccesses&) const = default;
};

struct AccessLog {
  mutable std::vector<BlockLog> blocks;  // in order of their numbers
  // By site: the allocation that it accessed in the first of these blocks, [first, second); {0, 0}: none.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  std::vector<FarAccesses> far;  // by site
  Dim3 grid{1, 1, 1};
  std::uint32_t warps_per_block = 1;
  unsigned row = kWarpSize;       // lanes per row of affine accesses
  std::uint64_t local_bytes = 0;  // per thread

  // Results, shared by all launches that repeat this one with the same arguments. The first to need them computes them,
  // and may then drop `blocks`.
  mutable std::uint64_t sectors = 0;  // of the whole launch, logged or not
  mutable std::once_flag modelled;
  mutable CacheCounts caches;
};

// The memory of some ended logs, for the next ones: new memory costs a page fault for each 4 KiB. A launch that logs
// 60,000 requests has 600. Thread-safe.
void keep_memory(std::vector<BlockLog>&& logs);
void take_memory(BlockLog& log);

}  // namespace warpgrind::events
