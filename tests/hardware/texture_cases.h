// Texture cases for the comparison of an H200 with the virtual GPU: resources, descriptions, texels and coordinates.
// All come from hashes, so both sides have the same. Included by run_textures_on_gpu.cu (nvcc) and by
// unit/texture_test.cpp.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

namespace texture_cases {

enum Geometry { d1, d2, d3, a1d, a2d, cube, acube, gather, fetch1d, pitched };
enum Kind { s, u, f };  // channel kinds as cudaChannelFormatKind orders them
enum Address { wrap, clamp, mirror, border };

struct Case {
  const char* name;
  Geometry geometry;
  Kind kind;
  int bits[4];
  int width, height, depth;  // texels; layered: depth = layers; cube: depth = 6 * cubes
  bool linear, normalized, normalized_float, srgb;
  Address address;
  int component;  // of a gather
};

inline constexpr int kSamples = 96;

inline const std::vector<Case>& all() {
  static const std::vector<Case> cases = {
      {"1d f32 linear clamp", d1, f, {32, 0, 0, 0}, 37, 0, 0, true, false, false, false, clamp, 0},
      {"1d f32 linear border", d1, f, {32, 0, 0, 0}, 37, 0, 0, true, false, false, false, border, 0},
      {"1d f32 linear wrap", d1, f, {32, 0, 0, 0}, 37, 0, 0, true, true, false, false, wrap, 0},
      {"1d f32 linear mirror", d1, f, {32, 0, 0, 0}, 37, 0, 0, true, true, false, false, mirror, 0},
      {"1d f32 point wrap", d1, f, {32, 0, 0, 0}, 37, 0, 0, false, true, false, false, wrap, 0},
      {"1d f32 point mirror", d1, f, {32, 0, 0, 0}, 37, 0, 0, false, true, false, false, mirror, 0},
      {"1d f32 point clamp", d1, f, {32, 0, 0, 0}, 37, 0, 0, false, false, false, false, clamp, 0},
      {"1d f32 point border", d1, f, {32, 0, 0, 0}, 37, 0, 0, false, false, false, false, border, 0},
      {"1d f32 point clamp normalized", d1, f, {32, 0, 0, 0}, 37, 0, 0, false, true, false, false, clamp, 0},
      {"2d f32 linear clamp", d2, f, {32, 0, 0, 0}, 37, 23, 0, true, false, false, false, clamp, 0},
      {"2d f32 linear border", d2, f, {32, 0, 0, 0}, 37, 23, 0, true, false, false, false, border, 0},
      {"2d f32 linear wrap", d2, f, {32, 0, 0, 0}, 64, 32, 0, true, true, false, false, wrap, 0},
      {"2d f32x4 linear mirror", d2, f, {32, 32, 32, 32}, 37, 23, 0, true, true, false, false, mirror, 0},
      {"2d f32x2 point wrap", d2, f, {32, 32, 0, 0}, 37, 23, 0, false, true, false, false, wrap, 0},
      {"2d f16x4 linear clamp", d2, f, {16, 16, 16, 16}, 37, 23, 0, true, false, false, false, clamp, 0},
      {"2d u8x4 linear clamp normalized float", d2, u, {8, 8, 8, 8}, 37, 23, 0, true, false, true, false, clamp, 0},
      {"2d u8x4 point wrap normalized float", d2, u, {8, 8, 8, 8}, 37, 23, 0, false, true, true, false, wrap, 0},
      {"2d u8x4 linear border normalized float", d2, u, {8, 8, 8, 8}, 37, 23, 0, true, true, true, false, border, 0},
      {"2d u8x4 linear srgb", d2, u, {8, 8, 8, 8}, 37, 23, 0, true, false, true, true, clamp, 0},
      {"2d u8x4 point srgb", d2, u, {8, 8, 8, 8}, 37, 23, 0, false, false, true, true, clamp, 0},
      {"2d s8x2 linear normalized float", d2, s, {8, 8, 0, 0}, 37, 23, 0, true, false, true, false, clamp, 0},
      {"2d s8x4 point normalized float", d2, s, {8, 8, 8, 8}, 37, 23, 0, false, false, true, false, clamp, 0},
      {"2d u16 linear normalized float", d2, u, {16, 0, 0, 0}, 37, 23, 0, true, false, true, false, clamp, 0},
      {"2d u16 point normalized float", d2, u, {16, 0, 0, 0}, 37, 23, 0, false, false, true, false, clamp, 0},
      {"2d s16x2 linear normalized float", d2, s, {16, 16, 0, 0}, 37, 23, 0, true, false, true, false, clamp, 0},
      {"2d s16x2 point normalized float", d2, s, {16, 16, 0, 0}, 37, 23, 0, false, false, true, false, clamp, 0},
      {"2d u8x4 point", d2, u, {8, 8, 8, 8}, 37, 23, 0, false, false, false, false, clamp, 0},
      {"2d u8 point border", d2, u, {8, 0, 0, 0}, 37, 23, 0, false, false, false, false, border, 0},
      {"2d s16x2 point border", d2, s, {16, 16, 0, 0}, 37, 23, 0, false, true, false, false, border, 0},
      {"2d s32x4 point mirror", d2, s, {32, 32, 32, 32}, 37, 23, 0, false, true, false, false, mirror, 0},
      {"2d f16 point border", d2, f, {16, 0, 0, 0}, 37, 23, 0, false, false, false, false, border, 0},
      {"3d f32 linear clamp", d3, f, {32, 0, 0, 0}, 19, 13, 7, true, false, false, false, clamp, 0},
      {"3d f32 linear wrap", d3, f, {32, 0, 0, 0}, 16, 8, 8, true, true, false, false, wrap, 0},
      {"3d u8 linear clamp normalized float", d3, u, {8, 0, 0, 0}, 19, 13, 7, true, true, true, false, clamp, 0},
      {"3d u8x4 point border", d3, u, {8, 8, 8, 8}, 19, 13, 7, false, false, false, false, border, 0},
      {"1d layered f32 linear clamp", a1d, f, {32, 0, 0, 0}, 37, 0, 5, true, false, false, false, clamp, 0},
      {"2d layered f32 linear wrap", a2d, f, {32, 0, 0, 0}, 37, 23, 5, true, true, false, false, wrap, 0},
      {"2d layered s32 point clamp", a2d, s, {32, 0, 0, 0}, 37, 23, 5, false, false, false, false, clamp, 0},
      {"cube f32 point", cube, f, {32, 0, 0, 0}, 16, 16, 6, false, true, false, false, clamp, 0},
      {"cube f32 linear", cube, f, {32, 0, 0, 0}, 16, 16, 6, true, true, false, false, clamp, 0},
      {"cube u8x4 linear wrap normalized float", cube, u, {8, 8, 8, 8}, 16, 16, 6, true, true, true, false, wrap, 0},
      {"cube layered f32 point", acube, f, {32, 0, 0, 0}, 16, 16, 18, false, true, false, false, clamp, 0},
      {"cube layered f32 linear", acube, f, {32, 0, 0, 0}, 16, 16, 18, true, true, false, false, clamp, 0},
      {"gather f32x4 component 1", gather, f, {32, 32, 32, 32}, 37, 23, 0, false, false, false, false, clamp, 1},
      {"gather f32 linear wrap", gather, f, {32, 0, 0, 0}, 37, 23, 0, true, true, false, false, wrap, 0},
      {"gather u8x4 component 3", gather, u, {8, 8, 8, 8}, 37, 23, 0, false, false, false, false, border, 3},
      {"fetch f32", fetch1d, f, {32, 0, 0, 0}, 1000, 0, 0, false, false, false, false, clamp, 0},
      {"fetch u8x4 normalized float", fetch1d, u, {8, 8, 8, 8}, 1000, 0, 0, false, false, true, false, clamp, 0},
      {"fetch s16", fetch1d, s, {16, 0, 0, 0}, 1000, 0, 0, false, false, false, false, clamp, 0},
      {"pitched f32 linear clamp", pitched, f, {32, 0, 0, 0}, 64, 23, 0, true, false, false, false, clamp, 0},
      {"pitched u8x4 point wrap", pitched, u, {8, 8, 8, 8}, 64, 23, 0, false, true, false, false, wrap, 0},
  };
  return cases;
}

inline std::uint32_t hash(std::uint32_t x) {
  x = (x ^ 61u) ^ (x >> 16);
  x *= 9u;
  x ^= x >> 4;
  x *= 0x27d4eb2du;
  return x ^ (x >> 15);
}

inline int texel_bytes(const Case& c) {
  return (c.bits[0] + c.bits[1] + c.bits[2] + c.bits[3]) / 8;
}
inline int at_least_one(int n) {
  return n ? n : 1;
}

// Texels in order x, y, z without padding. Floats lie in [-1, 1), halves likewise with 8 fractional bits.
inline std::vector<std::uint8_t> texels(const Case& c) {
  const int n = c.width * at_least_one(c.height) * at_least_one(c.depth);
  std::vector<std::uint8_t> out(static_cast<std::size_t>(n) * texel_bytes(c));
  std::uint8_t* p = out.data();
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(n); ++i)
    for (int k = 0; k < 4 && c.bits[k]; ++k) {
      const std::uint32_t h = hash(i * 4 + static_cast<std::uint32_t>(k) + 77777u);
      if (c.kind == f && c.bits[k] == 32) {
        const float v = static_cast<float>(static_cast<std::int32_t>(h) >> 8) / 8388608.0f;
        std::memcpy(p, &v, 4);
      } else if (c.kind == f) {
        const std::uint16_t v = static_cast<std::uint16_t>((h & 0x8000u) | ((h >> 3) % 0x3c00u));
        std::memcpy(p, &v, 2);
      } else {
        std::memcpy(p, &h, static_cast<std::size_t>(c.bits[k]) / 8);
      }
      p += c.bits[k] / 8;
    }
  return out;
}

// Four numbers a sample: x, y, z (or a direction), layer. The first samples lie on and beside texel centres and edges.
inline std::vector<float> coordinates(const Case& c) {
  std::vector<float> out(kSamples * 4u, 0.0f);
  const int size[3] = {c.width, at_least_one(c.height), at_least_one(c.depth)};
  const bool direction = c.geometry == cube || c.geometry == acube;
  for (std::uint32_t i = 0; i < kSamples; ++i) {
    for (std::uint32_t d = 0; d < 3; ++d) {
      const std::uint32_t h = hash(i * 8 + d + 1234567u);
      const float unit = static_cast<float>(h >> 8) / 16777216.0f;
      float x = 0;
      if (direction)
        x = unit * 2 - 1;
      else if (c.geometry == fetch1d)
        x = static_cast<float>(static_cast<int>(h % 1000u));
      else {
        const int step = static_cast<int>(h % 4096u) - 512;
        x = i < 24   ? static_cast<float>(step % (2 * size[d] * 8)) / 8.0f  // texel edges and centres
            : i < 48 ? static_cast<float>(h % (static_cast<std::uint32_t>(size[d]) * 1024u)) /
                           1024.0f  // 1/4 of a step of the weights
                     : (unit * 3 - 1) * static_cast<float>(size[d]);
        if (c.normalized) x /= static_cast<float>(size[d]);
      }
      out[i * 4 + d] = x;
    }
    const int layers = c.geometry == acube ? c.depth / 6 : at_least_one(c.depth);
    out[i * 4 + 3] = static_cast<float>(static_cast<int>(hash(i + 99u) % static_cast<std::uint32_t>(layers + 2)) - 1);
  }
  return out;
}

inline constexpr float kBorder[4] = {0.25f, 0.5f, 0.75f, 0.125f};
inline constexpr float kIntegerBorder[4] = {3.0f, 5.0f, 7.0f, 9.0f};

}  // namespace texture_cases
