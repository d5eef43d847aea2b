// Keeps the accesses of some blocks for the modelled caches (events/access_log.h). A launch logs about kLogged
// requests: all blocks of a small one, else all or some of those of some SMs whose requests meet, and some from the
// middle of the grid; which is decided by what block 0 asked for alone, so that it does not depend on the number of
// workers. A kernel that is launched again with the same
// arguments and shape is not logged again.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device/access/access.h"
#include "device/access/inline_cache.h"
#include "device/execution/state.h"
#include "events/access_log.h"

namespace warpgrind::device {

inline constexpr std::uint64_t kLogged = 12288;
// Of a launch of so few warps that one of them is all that there is to see: its log must be longer than what a cache
// holds, or data that it just cannot hold looks as if it were always new. 26 ms at 0.1 us a request.
inline constexpr std::uint64_t kLoggedOfFew = 262144, kFewWarps = 4;

// Before the launch: does it log?
void begin_logging(Launch& launch);
// Is the block one of those that `requests` of block 0 leave room for? beside: events::BlockLog.
enum class Logged : std::uint8_t { no, yes, beside };
Logged how_logged(const Launch& launch, std::uint64_t block, std::uint64_t requests);
// All blocks that are logged, in order. Block 0 has ended.
std::vector<std::uint64_t> logged_blocks(const Launch& launch);
// What the caches see. An address of generic space may be one of theirs.
inline bool is_logged(StateSpace space) {
  return space != StateSpace::shared && space != StateSpace::param;
}
// When a block begins and ends. Its warps have site states of their own (Worker::logged_sites), whose inline caches and
// windows stay empty but for those of shared memory; each until its part of the log is full.
void begin_log(Worker& worker, Block& block);
void end_log(const Worker& worker, Block& block);
inline void give_sites(WarpFiber& warp, const Block& block) {
  warp.context.sites = block.log ? warp.worker->logged_sites : warp.worker->sites;
}
inline bool is_logging(const jit::WarpContext& context) {
  return context.sites == fiber_of(context).worker->logged_sites;
}
// Of accesses that have been checked.
void log_affine(const Access& access, const AffineAddresses& addresses);
void log_lanes(const Access& access);
void log_texels(const Access& access, const Texels& texels);
// After the launch; null: nothing was logged.
std::shared_ptr<const events::AccessLog> collect_log(Launch& launch,
                                                     const std::vector<std::unique_ptr<Worker>>& workers);

}  // namespace warpgrind::device
