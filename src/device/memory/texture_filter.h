// The arithmetic of linear filtering, bit for bit an H200's.
#pragma once

#include "device/memory/texture.h"

namespace warpgrind::device {

// Of the 2, 4 or 8 texels around a point, in units of 1/256; fraction: of the point behind the lower texel, likewise.
// Corner c takes the upper neighbour along axis d where bit d of c is set.
void filter_weights(unsigned dims, const std::uint32_t* fraction, std::uint32_t* weights);
// Corners of weight 0 are not looked at; the others are as stored (TexelRange).
Texel filtered_texel(const Texture& texture, const Texel* corners, const std::uint32_t* weights, unsigned count);
// A texel that was not filtered, in the filter's precision: signed bytes come widened to 16 bits from a gather too.
bool widens_alone(const Texture& texture, unsigned channel);
std::uint32_t widened_alone(const Texture& texture, unsigned channel, std::uint32_t bits);

}  // namespace warpgrind::device
