// Affine accesses: fast path before pass().
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "device/access/access.h"

namespace warpgrind::device {

// Lane addresses base + kx*X(lane) + ky*Y(lane), with X and Y of the kernel's lane shape, in the space that the
// instruction writes.
struct AffineAddresses {
  std::uint64_t base;
  std::int64_t kx, ky;
  // Smallest and largest distance of a lane from base, over all 32 lanes.
  std::int64_t least(unsigned row) const {
    return std::min<std::int64_t>(0, x(row)) + std::min<std::int64_t>(0, y(row));
  }
  std::int64_t most(unsigned row) const {
    return std::max<std::int64_t>(0, x(row)) + std::max<std::int64_t>(0, y(row));
  }
  std::int64_t x(unsigned row) const { return kx * static_cast<std::int64_t>(row - 1); }
  std::int64_t y(unsigned row) const { return ky * static_cast<std::int64_t>(kWarpSize / row - 1); }
  // Address bits for the alignment check. A direction counts only if it has more than one lane.
  std::uint64_t bits(unsigned row) const {
    return base | (row > 1 ? static_cast<std::uint64_t>(kx) : 0) |
           (row < kWarpSize ? static_cast<std::uint64_t>(ky) : 0);
  }
};

void expand(const AffineAddresses& a, jit::LaneShape shape, std::uint64_t* addresses);  // writes all 32 lanes

struct AffinePlace {
  StateSpace space;         // resolved space
  std::uint64_t host_base;  // host address of `base`, unless the space is local
};
// Checks and counts for the lanes of the access's mask, and resolves its space. nullopt: not decided here, check lane
// by lane; the access is unchanged. For launches whose accesses nothing observes: does not publish.
std::optional<AffinePlace> pass_affine(Access& access, const AffineAddresses& addresses);
// Whether the site's inline cache covers the addresses.
bool is_cached(const jit::WarpContext& context, std::uint32_t site, const AffineAddresses& addresses);
// Counts an access of some lanes that machine code has checked and performs itself.
void count_checked(const Access& access, const AffineAddresses& addresses);

}  // namespace warpgrind::device
