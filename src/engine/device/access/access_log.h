// Logging of the accesses of some blocks for the modelled caches (events/access_log.h). A launch logs about kLogged
// requests. A small launch logs all its blocks. A larger one logs all or some blocks of a few SMs whose requests meet,
// and some blocks from the middle of the grid. Only the requests of block 0 decide which, so that the choice does not
// depend on the number of workers. Later launches of a kernel log less (log_parts.h). A repeated launch with the same
// arguments and shape is not logged again.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device/access/access.h"
#include "device/access/inline_cache.h"
#include "device/state.h"
#include "events/access_log.h"

namespace warpgrind::device {

inline constexpr std::uint64_t kLogged = 12288;
// Limit for a launch of at most kFewWarps warps, where one warp is all there is. Its log must be longer than the
// content of a cache. Otherwise data that just exceeds the cache looks always new. 26 ms at 0.1 us per request.
inline constexpr std::uint64_t kLoggedOfFew = 262144, kFewWarps = 4;

// Decides before the launch whether it is logged.
void begin_logging(Launch& launch);
// Whether a block is logged, given the number of requests of block 0. beside: events::BlockLog.
enum class Logged : std::uint8_t { no, yes, beside };
Logged how_logged(const Launch& launch, std::uint64_t block, std::uint64_t requests);
// All logged blocks, in order. Block 0 must have ended.
std::vector<std::uint64_t> logged_blocks(const Launch& launch);
// Whether the caches see accesses to this space. A generic address may be in it.
inline bool is_logged(StateSpace space) {
  return space != StateSpace::shared && space != StateSpace::param;
}
// Call when a block begins and ends. The warps of a logged block have their own site states (Worker::logged_sites).
// Their inline caches and windows stay empty, except for shared memory, until the warp's part of the log is full.
void begin_log(Worker& worker, Block& block);
void end_log(const Worker& worker, Block& block);
inline void give_sites(WarpFiber& warp, const Block& block) {
  warp.context.sites = block.log ? warp.worker->logged_sites : warp.worker->sites;
}
inline bool is_logging(const jit::WarpContext& context) {
  return context.sites == fiber_of(context).worker->logged_sites;
}
// Whether machine code may perform logged accesses of the launch. It only counts accesses of whole warps, but calls
// wg_count_affine for parts of warps: their masks are in no slot of the warp's own site states. So this holds where no
// warp is whole. Local memory has no slots.
inline bool is_logged_by_calls(const Launch& launch, StateSpace space) {
  return launch.threads_per_block < kWarpSize && space != StateSpace::local;
}
// Counts and logs an access of some lanes that machine code has checked and performs itself. Returns false if the warp
// logs no accesses to this space.
bool count_logged(jit::WarpContext& context, std::uint32_t site, const AffineAddresses& addresses, LaneMask mask);
// Log accesses that have been checked.
void log_affine(const Access& access, const AffineAddresses& addresses);
void log_lanes(const Access& access);
void log_texels(const Access& access, const Texels& texels);
// Call after the launch; null: nothing was logged.
std::shared_ptr<const events::AccessLog> collect_log(Launch& launch,
                                                     const std::vector<std::unique_ptr<Worker>>& workers);

}  // namespace warpgrind::device
