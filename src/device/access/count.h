// Exact counts of memory sites. Lanes repeat their patterns, so the cost of a pattern is computed once and hits are
// counted; the products are folded into events::SiteCounts when the pattern changes and when the launch ends.
#pragma once

#include <cstdint>
#include <memory>

#include "device/access/access.h"
#include "device/execution/state.h"
#include "events/scoreboard.h"
#include "gpu/neighbours.h"

namespace warpgrind::device {

// Lane addresses base + kx*X + ky*Y for some mask; costs depend on base & 255, kx, ky and the mask alone.
struct AffinePattern {
  std::int64_t kx = 0, ky = 0;
  std::uint64_t hits = 0;  // 0: empty
  LaneMask mask = 0;
  std::uint8_t base = 0;
  StateSpace space = StateSpace::none;
};

struct LanePattern {
  std::int64_t offsets[kWarpSize];  // from the first lane's address rounded down to 256; 0 for lanes off
  std::int64_t low = 0, high = 0;   // smallest and largest of the offsets
  std::uint64_t hits = 0;
  LaneMask mask = 0;
  StateSpace space = StateSpace::none;
  bool contiguous = false;  // one element a lane, side by side
};

// Masks of a site come in turns (the steps of a reduction, the edges of a stencil), so the search begins behind the
// last hit.
inline constexpr unsigned kAffinePatterns = 16;

// One a site and worker. Empty between launches.
struct alignas(64) SiteRecord {
  LanePattern lanes;
  AffinePattern affine[kAffinePatterns];
  std::uint32_t next_affine = 0;
  std::uint32_t refills = 0;       // of the inline cache in this launch
  std::uint32_t lane_refills = 0;  // of jit::LaneRequests
  std::uint32_t lane_steps = 0;    // changes of its steps
  std::uint32_t other_masks = 0;   // accesses of some lanes that found another pattern in their slot
  bool used = false;
  bool piece_cached = false;  // the inline cache holds a piece of the heap of kernels
  events::SiteCounts counts;
  std::unique_ptr<GridCounter> texels;  // made by the first fetch
  Range range;                          // where its last access went
};

// An access that has been checked. Its pattern is kept, also when counters are off: repeated patterns need no check.
void count(const Access& a, const Extent& extent);
void count_texels(const Access& a, LaneMask mask, const Texels& texels);
// Likewise; false: not by this way.
bool count_texels(Worker& worker, std::uint32_t site, LaneMask mask, std::span<const LaneTexels> texels);
// lane addresses base + kx*X + ky*Y
void count_affine(const Access& a, std::uint64_t base, std::int64_t kx, std::int64_t ky);
// The same for an access that the site's inline cache covers and whose keys are the cache's.
void count_masked(const Access& a, std::uint64_t base, std::int64_t kx, std::int64_t ky);
// Before the inline cache of a site changes: its histogram goes into the counts, and it is empty afterwards.
void fold_inline_cache(Worker& worker, std::uint32_t site, jit::SiteState& state);
// The same for the requests that it has kept (jit::LaneRequests); it has its window still.
void fold_lane_requests(Worker& worker, std::uint32_t site, jit::LaneRequests& lanes);
// Where the lanes of a request of all lanes are in steps, the next ones may be, too.
void choose_steps(Worker& worker, std::uint32_t site, jit::LaneRequests& lanes, const std::uint64_t* addresses);
// End of a launch: adds everything the worker counted, and leaves its records empty.
void collect(Worker& worker, events::LaunchCounts& counts);
// This worker's warps have given pieces of the heap of kernels back. (Inline caches of other workers are theirs: they
// may miss a use of such a piece, as a use at the same time is missed.)
void forget_pieces(Worker& worker);
void empty_inline_cache(jit::SiteState& state);

}  // namespace warpgrind::device
