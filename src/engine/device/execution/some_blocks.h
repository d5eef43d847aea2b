// Launches that run only some of their blocks (Options::blocks): enough for counts if the blocks of the grid are alike.
// The counts are scaled to the whole grid. The memory contents afterwards are not the result of the launch.
//
// Blocks are alike if neither their branches nor their addresses depend on data (flow/data_dependence.h), and if those
// that ran agree. Each class of blocks (block_classes.h) is drawn in parts. More are drawn until the parts differ by
// little. If that takes too many, the other blocks run too, and the counts are those of the whole launch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/device_impl.h"
#include "device/state.h"

namespace warpgrind::device {

// A grid runs whole if it has fewer blocks than this multiple of Options::blocks.
inline constexpr std::uint64_t kFewerBlocks = 2;

// Reason why all blocks of the launch must run, for a message; empty: some are enough. Blocks that wait for others, or
// branch on results of others, would behave differently without them. despite_data: does not look for branches and
// addresses that depend on data.
std::string why_all_blocks(const Launch& launch, bool despite_data);

// Scales `counts` from `ran` blocks to `blocks`.
void scale_counts(events::LaunchCounts& counts, std::uint64_t blocks, std::uint64_t ran);

// Totals of some blocks by which parts of a class are compared: instructions, and the costs of each kind of access.
struct BlockTotals {
  std::uint64_t blocks = 0;
  std::vector<double> values;  // sums over the blocks
  std::vector<double> bases;   // what differences are related to, at least; a twentieth of it
};
BlockTotals totals_of(const events::LaunchCounts& counts, const events::KernelFacts& facts, std::uint64_t blocks);

// Standard error of the mean of the worst total, relative to its mean, estimated from the differences between parts.
// 0: the parts agree in all.
double disagreement(const std::vector<BlockTotals>& parts);

}  // namespace warpgrind::device
