// Work of a launch's warps, block by block: blocks and warps that do more than others hold the launch up
// (timing/uneven.h). Recorded where some warps may run more rounds of a loop than others, and do not ask other warps
// whether they should.
#pragma once

#include <cstdint>
#include <vector>

namespace warpgrind::events {

struct BlockWork {
  static constexpr std::uint64_t kMostBlocks = 1 << 20;  // larger grids are not recorded
  // By the block's linear number. The unit is about the time between two instructions of a warp.
  std::vector<float> all;      // of all warps
  std::vector<float> slowest;  // of the warp with the most
  // false: the kernel has barriers, and warps take turns. `slowest` is then the work of a warp that runs all that some
  // warp of the block runs, as warps wait for each other.
  bool of_warps = false;
  bool operator==(const BlockWork&) const = default;
};

}  // namespace warpgrind::events
