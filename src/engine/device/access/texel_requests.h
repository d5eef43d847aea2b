// Texel reads of a warp split into requests of at most 32 addresses, the unit of costs and events.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "device/access/access.h"

namespace warpgrind::device {

// Calls f(addresses, count, first) for each part of the texels of a group of neighbouring lanes, in the texels' layout;
// `first` marks the first part of a request. There are several parts only for more than 32 texels (two levels of a 3D
// array: 64 per quad). No line of 128 bytes is then in two parts, if 32 texels allow it.
template <class F>
void each_texel_request(const Texels& texels, unsigned group, F&& f) {
  constexpr unsigned kLineShift = 7;
  for (unsigned lane = 0; lane < kWarpSize; lane += group) {
    const LaneMask lanes = ((LaneMask{1} << group) - 1) << lane;
    std::uint64_t at[TexelList::kMost * kWarpSize];
    unsigned n = 0;
    for (unsigned k = 0; k < texels.most; ++k)
      for (LaneMask m = texels.on[k] & lanes; m != 0; m &= m - 1) at[n++] = texels.layout[k][std::countr_zero(m)];
    if (n > kWarpSize) std::sort(at, at + n);
    for (unsigned begin = 0, end; begin < n; begin = end) {
      end = std::min(begin + kWarpSize, n);
      if (end < n) {
        unsigned boundary = end;
        while (boundary > begin && at[boundary - 1] >> kLineShift == at[boundary] >> kLineShift) --boundary;
        if (boundary > begin) end = boundary;
      }
      f(at + begin, end - begin, begin == 0);
    }
  }
}

}  // namespace warpgrind::device
