// Exact counts of memory sites. Lanes repeat their patterns. The cost of a pattern is computed once and its hits are
// counted. The products go into events::SiteCounts when the pattern changes and when the launch ends.
#pragma once

#include <cstdint>
#include <memory>

#include "device/access/access.h"
#include "device/state.h"
#include "events/scoreboard.h"
#include "gpu/neighbours.h"

namespace warpgrind::device {

// Lane addresses base + kx*X + ky*Y for some mask. Costs depend only on base & 255, kx, ky and the mask.
struct AffinePattern {
  std::int64_t kx = 0, ky = 0;
  std::uint64_t hits = 0;  // 0: empty
  LaneMask mask = 0;
  std::uint8_t base = 0;
  StateSpace space = StateSpace::none;
};

struct LanePattern {
  std::int64_t offsets[kWarpSize];  // from the first lane's address rounded down to 256; 0 for inactive lanes
  std::int64_t low = 0, high = 0;   // smallest and largest of the offsets
  std::uint64_t hits = 0;
  LaneMask mask = 0;
  StateSpace space = StateSpace::none;
  bool contiguous = false;  // adjacent lanes have adjacent elements
};

// Masks of a site recur in a fixed sequence (the steps of a reduction, the edges of a stencil), so the search begins
// after the last hit.
inline constexpr unsigned kAffinePatterns = 16;

// One per site and worker. Empty between launches.
struct alignas(64) SiteRecord {
  LanePattern lanes;
  AffinePattern affine[kAffinePatterns];
  std::uint32_t next_affine = 0;
  std::uint32_t refills = 0;       // of the inline cache in this launch
  std::uint32_t lane_refills = 0;  // of jit::LaneRequests
  std::uint32_t lane_steps = 0;    // changes of its steps
  std::uint32_t other_masks = 0;   // partial-mask accesses that found another pattern in their slot
  bool used = false;
  bool piece_cached = false;  // the inline cache holds a piece of the device heap
  events::SiteCounts counts;
  std::unique_ptr<GridCounter> texels;  // made by the first fetch
  Range range;                          // range of the last access
};

// Counts a checked access. Its pattern is kept even if counters are off: repeated patterns need no check.
void count(const Access& a, const Extent& extent);
void count_texels(const Access& a, LaneMask mask, const Texels& texels);
// Same; returns false if this method does not apply.
bool count_texels(Worker& worker, std::uint32_t site, LaneMask mask, std::span<const LaneTexels> texels);
// Counts one side of a tensor copy of one lane as one request.
void count_box(jit::WarpContext& context, std::uint32_t site, unsigned lane, StateSpace space, const AccessCost& cost);
// Notes where in shared memory a bulk or tensor copy puts its bytes (SiteCounts::copy_places).
void count_copy_place(jit::WarpContext& context, std::uint32_t site, SharedOffset place);
// lane addresses base + kx*X + ky*Y
void count_affine(const Access& a, std::uint64_t base, std::int64_t kx, std::int64_t ky);
// Same, for an access that the site's inline cache covers and whose keys match the cache.
void count_masked(const Access& a, std::uint64_t base, std::int64_t kx, std::int64_t ky);
// Same, without the site's followers, in slots that machine code does not use.
void count_masked_alone(jit::WarpContext& context, std::uint32_t site, std::uint64_t base, LaneMask mask);
// Call when the launch is fully planned: closes the windows of the worker's sites that do not hold for it.
void begin_windows(Worker& worker);
// Call before the inline cache of a site changes: adds its histogram to the counts and empties it.
void fold_inline_cache(Worker& worker, std::uint32_t site, jit::SiteState& state);
// Same for the stored requests (jit::LaneRequests). The window must still be the one they were stored with.
void fold_lane_requests(Worker& worker, std::uint32_t site, jit::LaneRequests& lanes);
// Sets the steps of a window from a request of all lanes with constant steps: the next requests probably have them too.
void choose_steps(Worker& worker, std::uint32_t site, jit::LaneRequests& lanes, const std::uint64_t* addresses);
void close_sites(Worker& worker);  // closes the fast paths of all sites: each later access calls the device
// At the end of a launch: adds all counts of the worker and empties its records.
void collect(Worker& worker, events::LaunchCounts& counts);
// Call after this worker's warps freed pieces of the device heap: drops them from its inline caches. Caches of other
// workers are not reached. They may miss a use of such a piece, as they may miss a use at the same time.
void forget_pieces(Worker& worker);
void empty_inline_cache(jit::SiteState& state);
// Whether accesses with these steps cost the same at each base, for each mask: lanes with one address touch one sector
// or bank. By the oldest rule, the place in a segment decides.
inline bool is_same_everywhere(const AccessRules& rules, std::int64_t kx, std::int64_t ky) {
  return kx == 0 && ky == 0 && rules.coalescing == CoalescingRule::sectors_32;
}

}  // namespace warpgrind::device
