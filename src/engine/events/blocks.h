// Numbers of blocks of a launch.
#pragma once

#include <cstdint>

#include "events/events.h"

namespace warpgrind::events {

inline std::uint64_t linear_block(const Launch& launch, const Dim3& block) {
  return (std::uint64_t{block.z} * launch.grid.y + block.y) * launch.grid.x + block.x;
}

inline std::int64_t rank_in_cluster(const Launch& launch, const Dim3& block) {
  const Dim3& c = launch.cluster;
  return (std::int64_t{block.z % c.z} * c.y + block.y % c.y) * c.x + block.x % c.x;
}

// The block of the cluster of `block` whose rank is `ranks` higher.
inline Dim3 neighbour_in_cluster(const Launch& launch, const Dim3& block, std::int64_t ranks) {
  const Dim3& c = launch.cluster;
  const auto rank = static_cast<std::uint64_t>(rank_in_cluster(launch, block) + ranks);
  return {static_cast<std::uint32_t>(block.x / c.x * c.x + rank % c.x),
          static_cast<std::uint32_t>(block.y / c.y * c.y + rank / c.x % c.y),
          static_cast<std::uint32_t>(block.z / c.z * c.z + rank / c.x / c.y)};
}

// The same; linear.
inline std::uint64_t block_of_cluster(const Launch& launch, const Dim3& block, std::int64_t ranks) {
  return linear_block(launch, neighbour_in_cluster(launch, block, ranks));
}

// Shared memory of another block of the cluster: rank of the block that owns it, minus that of the accessing block.
inline std::int64_t ranks_apart(std::uint64_t offset) {
  return static_cast<std::int64_t>(offset) >> kClusterShift;
}

// The block that owns the shared memory which `block` accesses at this offset, and the offset in that block.
inline Dim3 owner_of_shared(const Launch& launch, const Dim3& block, std::uint64_t offset) {
  const std::int64_t ranks = ranks_apart(offset);
  return ranks == 0 ? block : neighbour_in_cluster(launch, block, ranks);
}
inline std::uint64_t offset_in_owner(std::uint64_t offset) {
  return offset & ((std::uint64_t{1} << kClusterShift) - 1);
}

}  // namespace warpgrind::events
