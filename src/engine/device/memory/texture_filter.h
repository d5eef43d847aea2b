// Arithmetic of linear filtering, bit-identical to an H200.
#pragma once

#include "device/memory/texture.h"

namespace warpgrind::device {

// Weights of the 2, 4 or 8 texels around a point, in units of 1/256. fraction: position of the point after the lower
// texel, in the same unit. Corner c is the upper neighbour along axis d if bit d of c is set.
void filter_weights(unsigned dims, const std::uint32_t* fraction, std::uint32_t* weights);
// Corners of weight 0 are not read; the others are as stored (TexelRange).
Texel filtered_texel(const Texture& texture, const Texel* corners, const std::uint32_t* weights, unsigned count);
// Unfiltered texels in the filter's precision: signed bytes come widened to 16 bits, from a gather too.
bool widens_alone(const Texture& texture, unsigned channel);
std::uint32_t widened_alone(const Texture& texture, unsigned channel, std::uint32_t bits);

}  // namespace warpgrind::device
