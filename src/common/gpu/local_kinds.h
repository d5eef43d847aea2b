// Kinds of accesses to local memory at one offset for all lanes. Each lane's word lies beside its neighbours' words. So
// by the rules of every GPU, two things decide the cost: which groups of eight lanes have an active lane (one sector
// each), and the number of active lanes. That gives 239 kinds.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "gpu/types.h"

namespace warpgrind {

inline constexpr unsigned kLaneGroup = 8, kLaneGroups = kWarpSize / kLaneGroup;

// Offset that is added to the number of active lanes to give the kind. The index is a mask of the groups with active
// lanes. In g groups, g to 8g lanes may be active. Kind 0: no active lane.
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

// A mask of lanes whose access has this kind.
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
