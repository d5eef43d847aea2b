// The ranges of bytes that bulk copies and bulk reductions move: one for each lane.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "gpu/types.h"

namespace warpgrind::device {

inline constexpr std::uint32_t kAllBytes = 0xffff;

// The lanes of the mask whose range is not empty.
inline LaneMask lanes_that_move(const std::uint32_t* bytes, LaneMask mask) {
  LaneMask moving = 0;
  for (LaneMask m = mask; m != 0; m &= m - 1)
    if (bytes[std::countr_zero(m)] != 0) moving |= m & (~m + 1);
  return moving;
}

// byte_mask: which bytes of each 16 are moved (.cp_mask).
inline void move_range(std::uint8_t* to, const std::uint8_t* from, std::size_t bytes, std::uint32_t byte_mask) {
  constexpr unsigned kChunk = 16;
  if (byte_mask == kAllBytes) {
    std::memmove(to, from, bytes);
    return;
  }
  for (std::size_t k = 0; k < bytes; ++k)
    if (byte_mask >> k % kChunk & 1) to[k] = from[k];
}

}  // namespace warpgrind::device
