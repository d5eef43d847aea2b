// Text for a set of lanes of a warp.
#pragma once

#include <fmt/format.h>

#include <bit>
#include <string>

#include "gpu/types.h"

namespace warpgrind::checkers {

// "lane 16", "lanes 0-7", "lanes 0, 2-5 and 31"
inline std::string lanes_text(LaneMask lanes) {
  std::string text;
  for (unsigned l = 0; l < kWarpSize; ++l) {
    if ((lanes >> l & 1) == 0) continue;
    unsigned last = l;
    while (last + 1 < kWarpSize && lanes >> (last + 1) & 1) ++last;
    const bool is_last = last + 1 == kWarpSize || (lanes >> (last + 1)) == 0;
    text += fmt::format("{}{}", text.empty() ? "" : is_last ? " and " : ", ", l);
    if (last > l) text += fmt::format("-{}", last);
    l = last;
  }
  return (std::has_single_bit(lanes) ? "lane " : "lanes ") + text;
}

}  // namespace warpgrind::checkers
