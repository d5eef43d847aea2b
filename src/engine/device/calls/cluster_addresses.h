// Addresses of shared memory in the blocks of a cluster (gpu/types.h).
#pragma once

#include "device/access/access.h"

namespace warpgrind::device {

inline constexpr std::uint64_t kBlockWindow = std::uint64_t{1} << kClusterShift;  // addresses of one block

// The same place in the shared memory of the block `rank`.
inline GenericAddress in_block(GenericAddress address, unsigned rank) {
  return GenericAddress{kSharedWindow + (std::uint64_t{rank} << kClusterShift) + (raw(address) & (kBlockWindow - 1))};
}

// Rank of the block whose shared memory the address names.
inline unsigned block_of(GenericAddress address) {
  return static_cast<unsigned>((raw(address) & (kWindowSize - 1)) >> kClusterShift);
}

}  // namespace warpgrind::device
