// What the texture unit reads for a warp as requests of at most 32 addresses, as cost and events know them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "device/access/access.h"

namespace warpgrind::device {

// f(addresses, count, first): a part of what a group of neighbours reads, in the texels' layout; the first of its
// request. There is more than one only where there are more than 32 texels (two levels of a 3D array: 64 of a quad),
// and then, as far as 32 texels allow it, no line of 128 bytes is in two of them.
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
