// What lanes that make a request together touch, where neighbours do so by groups of 4 or 8 (the texture unit): all of
// a warp's requests at once, in vector code.
#pragma once

#include <cstdint>

#include "gpu/access_rules.h"
#include "gpu/types.h"

namespace warpgrind {

// For each of the first `count` arrays, the lanes on whose value no lower lane of the same group of `group` (4 or 8)
// neighbours has in the same array, and none of that group in an array before. Values of lanes on are not negative; of
// lanes off they are -1.
inline constexpr unsigned kMostOfEach = 4;
void first_of_neighbours(const std::int32_t (*values)[kWarpSize], unsigned count, unsigned group, LaneMask* first);

// By the rule of 32-byte sectors, the sum of global_cost() over the groups of `group` lanes, each of which loads
// `bytes` at `count` (at most kMostOfEach) places a lane: place + skew, below 2^31, lies so far behind a multiple of
// 128. requests: groups with a lane on.
AccessCost neighbours_cost(const std::int32_t (*place)[kWarpSize], const LaneMask* on, unsigned count, unsigned group,
                           std::uint32_t skew, unsigned bytes, unsigned& requests);

}  // namespace warpgrind
