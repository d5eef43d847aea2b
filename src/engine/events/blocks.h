// Numbers of blocks of a launch.
#pragma once

#include <cstdint>

#include "events/events.h"

namespace warpgrind::events {

inline std::uint64_t linear_block(const Launch& launch, const Dim3& block) {
  return (std::uint64_t{block.z} * launch.grid.y + block.y) * launch.grid.x + block.x;
}

// The block of the cluster of `block` whose rank is `ranks` higher; linear.
inline std::uint64_t block_of_cluster(const Launch& launch, const Dim3& block, std::int64_t ranks) {
  const Dim3& c = launch.cluster;
  const Dim3 base{block.x / c.x * c.x, block.y / c.y * c.y, block.z / c.z * c.z};
  const std::int64_t own = ((block.z - base.z) * c.y + (block.y - base.y)) * c.x + (block.x - base.x);
  const auto rank = static_cast<std::uint64_t>(own + ranks);
  const Dim3 other{static_cast<std::uint32_t>(base.x + rank % c.x),
                   static_cast<std::uint32_t>(base.y + rank / c.x % c.y),
                   static_cast<std::uint32_t>(base.z + rank / c.x / c.y)};
  return linear_block(launch, other);
}

// Shared memory of another block of the cluster: rank of the block that owns it, minus that of the accessing block.
inline std::int64_t ranks_apart(std::uint64_t offset) {
  return static_cast<std::int64_t>(offset) >> kClusterShift;
}

}  // namespace warpgrind::events
