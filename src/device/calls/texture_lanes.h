// Textures for all lanes of a request at once: the rules of memory/texture.h and texture_filter.h in vector code, for
// the kinds of textures that most programs use. The others are read lane by lane.
#pragma once

#include <cstdint>

#include "device/access/access.h"
#include "device/memory/texture.h"
#include "gpu/types.h"

namespace warpgrind::device {

// 1D and 2D textures, also layered ones, without levels of detail and gathers.
bool is_flat(const jit::TextureCall& call);

// A flat call. coordinates[c*32 + l], the layer first; out[k*32 + l] is written for all lanes, what was read goes
// to `texels`. False: none of these kinds, and nothing is written. With linear filtering they are textures of 32-bit
// floats and of normalised unsigned integers of 8 or 16 bits.
bool read_lanes(const Texture& texture, const jit::TextureCall& call, const std::uint32_t* coordinates, LaneMask mask,
                std::uint32_t* out, LaneTexels& texels);

}  // namespace warpgrind::device
