// Which bytes an affine access touches, neighbours together.
#pragma once

#include <bit>
#include <cstdint>

#include "events/events.h"

namespace warpgrind::checkers {

// touch(address, bytes) for each.
template <class Touch>
void each_stretch(const events::AffineAccess& a, Touch&& touch) {
  const LaneMask in_row = a.row == kWarpSize ? ~LaneMask{0} : (LaneMask{1} << a.row) - 1;
  for (unsigned lane0 = 0; lane0 < kWarpSize; lane0 += a.row) {
    const LaneMask lanes = a.mask >> lane0 & in_row;
    if (lanes == 0) continue;
    const std::uint64_t row = a.base + static_cast<std::uint64_t>(a.ky * std::int64_t{lane0 / a.row});
    const auto at = [&](unsigned l) { return row + static_cast<std::uint64_t>(a.kx * std::int64_t{l}); };
    const auto first = static_cast<unsigned>(std::countr_zero(lanes));
    const auto count = static_cast<unsigned>(std::bit_width(lanes >> first));
    const bool no_gap = (lanes >> first & ((lanes >> first) + 1)) == 0;
    if (a.kx == 0) {
      touch(row, std::uint64_t{a.bytes});
    } else if (a.kx == std::int64_t{a.bytes} && no_gap) {
      touch(at(first), std::uint64_t{count} * a.bytes);
    } else {
      for (LaneMask m = lanes; m != 0; m &= m - 1)
        touch(at(static_cast<unsigned>(std::countr_zero(m))), std::uint64_t{a.bytes});
    }
  }
}

}  // namespace warpgrind::checkers
