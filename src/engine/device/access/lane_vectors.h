// Operations on 32 lanes of addresses, with AVX-512 and AVX2 versions chosen at run time. Inactive lanes are never read
// from memory.
#pragma once

#include <cstdint>

#include "gpu/types.h"

namespace warpgrind::device {

struct Extent {
  std::uint64_t low, high;  // smallest and largest address of the active lanes
  std::uint64_t bits;       // all addresses or-ed: alignment
};

Extent extent_of(const std::uint64_t* addresses, LaneMask mask);
// offsets[l] == addresses[l] - origin for active lanes
bool same_offsets(const std::int64_t* offsets, const std::uint64_t* addresses, std::uint64_t origin, LaneMask mask);
// offsets[l] = addresses[l] - origin; 0 for inactive lanes
void relative_offsets(std::int64_t* offsets, const std::uint64_t* addresses, std::uint64_t origin, LaneMask mask);

// True if all active lanes are at multiples of 1 << shift from `low`, within `places` such positions. Then offsets[l]
// is the distance of lane l from `low`, and ~0 for inactive lanes. Otherwise the offsets are meaningless.
struct LaneWindow {
  std::uint64_t low, places;
  unsigned shift;
};
bool lanes_in_window(const LaneWindow& window, const std::uint64_t* addresses, LaneMask mask, std::uint32_t* offsets);
bool lanes_in_window_avx2(const LaneWindow& window, const std::uint64_t* addresses, LaneMask mask,
                          std::uint32_t* offsets);
bool lanes_in_window_avx512(const LaneWindow& window, const std::uint64_t* addresses, LaneMask mask,
                            std::uint32_t* offsets);  // requires kHaveAvx512

// out[e*32 + l] = element e at origin + addresses[l], for active lanes; others are unchanged. element: bytes (1, 2, 4,
// 8, 16).
void gather(void* out, std::uint64_t origin, const std::uint64_t* addresses, LaneMask mask, unsigned element,
            unsigned count);
// The reverse. If lanes share an address, the highest lane wins.
void scatter(const void* values, std::uint64_t origin, const std::uint64_t* addresses, LaneMask mask, unsigned element,
             unsigned count);

// out[l] = from[l] for active lanes, `element` bytes each: gather and scatter for contiguous lanes.
void copy_lanes(void* out, const void* from, LaneMask mask, unsigned element);

}  // namespace warpgrind::device
