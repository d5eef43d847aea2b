// Reads of mipmapped arrays for all lanes of a request at once. Each level that some lanes read is handled as one
// texture for these lanes.
#pragma once

#include <cstdint>
#include <vector>

#include "device/access/access.h"
#include "device/calls/texture_lanes.h"

namespace warpgrind::device {

// Texels read: from one or two levels for all lanes or, if lanes read different levels, lane by lane.
struct LevelTexels {
  LaneTexels planes[kMostPlanes];
  unsigned count = 0;  // number of planes; 0: see by_lanes
  Texels by_lanes;
};

// coordinates: followed by the operands that select the level. Returns false if the case is not supported; the output
// is then meaningless.
bool read_levels(const Texture& texture, const std::vector<LaneSampler>& samplers, const jit::TextureCall& call,
                 const std::uint32_t* coordinates, LaneMask mask, std::uint32_t* out, LevelTexels& texels);

}  // namespace warpgrind::device
