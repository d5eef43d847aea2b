// Encoding of a texture or surface access in one 32-bit code, between machine code and the device.
#pragma once

#include <cstdint>

namespace warpgrind::jit {

enum class SurfaceBoundary : std::uint8_t { trap, clamp, zero };

enum class TextureGeometry : std::uint8_t { d1, d2, d3, a1d, a2d, cube, acube };

// Queries of txq and suq (wg_texture_query).
enum TextureQuery : std::uint32_t {
  kQueryWidth,
  kQueryHeight,
  kQueryDepth,
  kQueryArraySize,
  kQueryMipmapLevels,
  kQueryNormalized,
  kQueries
};

// Source of the level of a mipmapped array: the first level, a given one, or one computed from the two gradients.
enum class TextureDetail : std::uint8_t { base, level, gradients };

// Number of coordinates of a gradient: without the layer.
inline unsigned step_size(TextureGeometry g) {
  switch (g) {
    case TextureGeometry::d1:
    case TextureGeometry::a1d:
      return 1;
    case TextureGeometry::d2:
    case TextureGeometry::a2d:
      return 2;
    default:
      return 3;
  }
}
inline constexpr unsigned kTextureWords = 4 + 2 * 3;  // coordinates and two gradients, at most

struct TextureCall {
  TextureGeometry geometry = TextureGeometry::d1;
  std::uint8_t coordinates = 1;  // how many, layer included
  bool integer_coordinates = false, gather = false;
  std::uint8_t component = 0;  // of a gather
  SurfaceBoundary boundary = SurfaceBoundary::trap;
  TextureDetail detail = TextureDetail::base;  // words after the coordinates: none, one, or two gradients
  bool one_handle = false;                     // all lanes use the same handle
  bool in_values = false;  // surfaces: x counts values of the operand's size (sured.p); else it is an offset in bytes

  std::uint32_t encode() const {
    return static_cast<std::uint32_t>(geometry) | std::uint32_t{coordinates} << 4 |
           std::uint32_t{integer_coordinates} << 8 | std::uint32_t{gather} << 9 | std::uint32_t{component} << 10 |
           static_cast<std::uint32_t>(boundary) << 12 | static_cast<std::uint32_t>(detail) << 14 |
           std::uint32_t{one_handle} << 16 | std::uint32_t{in_values} << 17;
  }
  static TextureCall decode(std::uint32_t code) {
    TextureCall c;
    c.geometry = static_cast<TextureGeometry>(code & 15);
    c.coordinates = code >> 4 & 15;
    c.integer_coordinates = code >> 8 & 1;
    c.gather = code >> 9 & 1;
    c.component = code >> 10 & 3;
    c.boundary = static_cast<SurfaceBoundary>(code >> 12 & 3);
    c.detail = static_cast<TextureDetail>(code >> 14 & 3);
    c.one_handle = code >> 16 & 1;
    c.in_values = code >> 17 & 1;
    return c;
  }
};

}  // namespace warpgrind::jit
