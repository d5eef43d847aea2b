// Operations on 32 lanes of addresses, with AVX-512 and AVX2 versions chosen at run time. Lanes that are off are never
// read from memory.
#pragma once

#include <cstdint>

#include "gpu/types.h"

namespace warpgrind::device {

struct Extent {
  std::uint64_t low, high;  // smallest and largest address of the lanes on
  std::uint64_t bits;       // all addresses or-ed: alignment
};

Extent extent_of(const std::uint64_t* addresses, LaneMask mask);
// offsets[l] == addresses[l] - origin for the lanes on
bool same_offsets(const std::int64_t* offsets, const std::uint64_t* addresses, std::uint64_t origin, LaneMask mask);
// offsets[l] = addresses[l] - origin; 0 for lanes off
void relative_offsets(std::int64_t* offsets, const std::uint64_t* addresses, std::uint64_t origin, LaneMask mask);

// All lanes on are at multiples of 1 << shift from `low`, of which there are `places`. Then offsets[l] is how far lane
// l is, and ~0 of lanes off; else it means nothing.
struct LaneWindow {
  std::uint64_t low, places;
  unsigned shift;
};
bool lanes_in_window(const LaneWindow& window, const std::uint64_t* addresses, LaneMask mask, std::uint32_t* offsets);
bool lanes_in_window_avx2(const LaneWindow& window, const std::uint64_t* addresses, LaneMask mask,
                          std::uint32_t* offsets);
bool lanes_in_window_avx512(const LaneWindow& window, const std::uint64_t* addresses, LaneMask mask,
                            std::uint32_t* offsets);  // where kHaveAvx512

// out[e*32 + l] = element e at origin + addresses[l], for lanes on; others are left alone. element: bytes (1, 2, 4, 8,
// 16).
void gather(void* out, std::uint64_t origin, const std::uint64_t* addresses, LaneMask mask, unsigned element,
            unsigned count);
// The reverse; where lanes meet at one address the highest lane wins.
void scatter(const void* values, std::uint64_t origin, const std::uint64_t* addresses, LaneMask mask, unsigned element,
             unsigned count);

// out[l] = from[l] (lanes on) of `element` bytes each: the same for contiguous lanes.
void copy_lanes(void* out, const void* from, LaneMask mask, unsigned element);

}  // namespace warpgrind::device
