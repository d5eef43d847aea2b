// Accesses to local memory at one offset for all lanes. Each lane has a word of its own there, beside its neighbours'
// words, so that two things decide what such an access costs, by the rules of every GPU: which groups of eight lanes
// have one on (a sector each), and how many lanes are on. That makes 239 kinds.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "gpu/types.h"

namespace warpgrind {

inline constexpr unsigned kLaneGroup = 8, kLaneGroups = kWarpSize / kLaneGroup;

// By the groups with lanes on, a bit each: what is added to the number of lanes on to make the kind. From g to 8g lanes
// may be on in g groups; kind 0: none is.
inline constexpr auto kLocalKindsBefore = [] {
  std::array<std::uint8_t, 1u << kLaneGroups> before{};
  unsigned next = 1;
  for (unsigned groups = 1; groups < before.size(); ++groups) {
    const auto least = static_cast<unsigned>(std::popcount(groups));
    before[groups] = static_cast<std::uint8_t>(next - least);
    next += (kLaneGroup - 1) * least + 1;
  }
  return before;
}();

constexpr unsigned local_kind(LaneMask mask) {
  unsigned groups = 0;
  for (unsigned g = 0; g < kLaneGroups; ++g) groups |= unsigned{(mask >> g * kLaneGroup & 0xff) != 0} << g;
  return kLocalKindsBefore[groups] + static_cast<unsigned>(std::popcount(mask));
}
inline constexpr unsigned kLocalKinds = local_kind(kFullMask) + 1;
static_assert(kLocalKinds <= 256);

// Lanes that make an access of this kind.
constexpr LaneMask lanes_of_local_kind(unsigned kind) {
  unsigned groups = 0;
  for (unsigned g = 1; g < kLocalKindsBefore.size(); ++g)
    if (kind >= kLocalKindsBefore[g] + static_cast<unsigned>(std::popcount(g))) groups = g;
  unsigned more = kind - kLocalKindsBefore[groups] - static_cast<unsigned>(std::popcount(groups));
  LaneMask mask = 0;
  for (unsigned g = 0; g < kLaneGroups; ++g) {
    if ((groups >> g & 1) == 0) continue;
    const unsigned also = more < kLaneGroup - 1 ? more : kLaneGroup - 1;
    mask |= ((LaneMask{2} << also) - 1) << g * kLaneGroup;
    more -= also;
  }
  return mask;
}

}  // namespace warpgrind
