// How a texture or surface access is described in one 32-bit code between machine code and the device.
#pragma once

#include <cstdint>

namespace warpgrind::jit {

enum class SurfaceBoundary : std::uint8_t { trap, clamp, zero };

enum class TextureGeometry : std::uint8_t { d1, d2, d3, a1d, a2d, cube, acube };

// What txq and suq ask for (wg_texture_query).
enum TextureQuery : std::uint32_t {
  kQueryWidth,
  kQueryHeight,
  kQueryDepth,
  kQueryArraySize,
  kQueryMipmapLevels,
  kQueryNormalized,
  kQueries
};

struct TextureCall {
  TextureGeometry geometry = TextureGeometry::d1;
  std::uint8_t coordinates = 1;  // how many, layer included
  bool integer_coordinates = false, gather = false;
  std::uint8_t component = 0;  // of a gather
  SurfaceBoundary boundary = SurfaceBoundary::trap;

  std::uint32_t encode() const {
    return static_cast<std::uint32_t>(geometry) | std::uint32_t{coordinates} << 4 |
           std::uint32_t{integer_coordinates} << 8 | std::uint32_t{gather} << 9 | std::uint32_t{component} << 10 |
           static_cast<std::uint32_t>(boundary) << 12;
  }
  static TextureCall decode(std::uint32_t code) {
    TextureCall c;
    c.geometry = static_cast<TextureGeometry>(code & 15);
    c.coordinates = code >> 4 & 15;
    c.integer_coordinates = code >> 8 & 1;
    c.gather = code >> 9 & 1;
    c.component = code >> 10 & 3;
    c.boundary = static_cast<SurfaceBoundary>(code >> 12 & 3);
    return c;
  }
};

}  // namespace warpgrind::jit
