// Conversion of the bits of a texel to channel values.
#pragma once

#include "device/memory/texture.h"

namespace warpgrind::device {

bool gives_floats(const Texture& texture);

// The most negative number of a signed normalised format also means -1, but only after the filter.
enum class TexelRange : std::uint8_t { clamped, as_stored };
Texel unpack(const Texture& texture, const std::uint8_t* at, TexelRange range = TexelRange::clamped);
Texel border_texel(const Texture& texture);

// The unit in which an sRGB texel of this linear value is a whole number.
double srgb_unit(double linear);

}  // namespace warpgrind::device
