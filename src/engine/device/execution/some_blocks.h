// Launches that run only some of their blocks (Options::blocks): enough for counts if the blocks of the grid are alike.
// The counts are scaled to the whole grid. The memory contents afterwards are not the result of the launch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/device_impl.h"
#include "device/state.h"

namespace warpgrind::device {

// Reason why all blocks of the launch must run, for a message; empty: some are enough. Blocks that wait for others, or
// branch on results of others, would behave differently without them.
std::string why_all_blocks(const Launch& launch);

// Selects `count` blocks of the grid in order, with the first and the last. The grid is divided into `count` equal
// parts. Each part gives one block, at varying positions, so that no column of the grid is preferred.
std::vector<std::uint64_t> spread_blocks(std::uint64_t blocks, std::uint64_t count);

// Scales `counts` from `ran` blocks to `blocks`.
void scale_counts(events::LaunchCounts& counts, std::uint64_t blocks, std::uint64_t ran);

}  // namespace warpgrind::device
