// A launch of which only some blocks run (Options::blocks): enough to count by, when the blocks of the grid are alike.
// Its counts are scaled to the whole grid; what it leaves in memory is not the result of the launch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/device_impl.h"
#include "device/execution/state.h"

namespace warpgrind::device {

// Why all blocks of the launch must run, for a message; empty: some are enough. Blocks that wait for others, or take
// other ways by what others did, would not do without them what they do with them.
std::string why_all_blocks(const Launch& launch);

// `count` of the grid's blocks in order, the first and the last among them: one in a place of its own in each of
// `count` equal parts of the grid, so that no column of it is preferred.
std::vector<std::uint64_t> spread_blocks(std::uint64_t blocks, std::uint64_t count);

// `counts` of `ran` blocks become those of `blocks`.
void scale_counts(events::LaunchCounts& counts, std::uint64_t blocks, std::uint64_t ran);

}  // namespace warpgrind::device
