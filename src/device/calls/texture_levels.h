// Mipmapped arrays for all lanes of a request at once: each level that some lanes read is a texture for these.
#pragma once

#include <cstdint>
#include <vector>

#include "device/access/access.h"
#include "device/calls/texture_lanes.h"

namespace warpgrind::device {

// What was read of one or two levels, or, where lanes read from others, by lanes.
struct LevelTexels {
  LaneTexels planes[kMostPlanes];
  unsigned count = 0;  // of planes; 0: by lanes
  Texels by_lanes;
};

// coordinates: with what says the level behind them. False: not by this way, and what was written means nothing.
bool read_levels(const Texture& texture, const std::vector<LaneSampler>& samplers, const jit::TextureCall& call,
                 const std::uint32_t* coordinates, LaneMask mask, std::uint32_t* out, LevelTexels& texels);

}  // namespace warpgrind::device
