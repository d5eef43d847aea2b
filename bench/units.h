// What units.cu (as the hardware's units do it) and units.cc (in plain C++) both compute.
#pragma once

#include <cstdint>

namespace bench {

// A warp multiplies kMmaTurns pairs of small matrices of halves, 16 x 16 and 16 x 8, and adds up the products in float.
constexpr int kMmaTurns = 64, kMmaPairs = 8, kRows = 16, kColumns = 8, kDepth = 16;
// Whole numbers, so that the order of additions does not matter: A of a pair at (row, k), B at (k, column).
constexpr int mma_a(int pair, int row, int k) {
  return (pair + row * 3 + k) % 7 - 3;
}
constexpr int mma_b(int pair, int k, int column) {
  return (pair * 5 + k + column * 2) % 5 - 2;
}

// Each thread: x = x * kHalfFactor + kHalfTerm in halves.
constexpr int kHalfTurns = 64;
constexpr float kHalfFactor = 0.5f, kHalfTerm = 1.25f;
constexpr float half_start(int i) {
  return float(i % 61) * 0.125f;
}

// Each thread: sum += the four bytes' |x - y|, and x and y go on.
constexpr int kByteTurns = 64;
#ifdef __CUDACC__
__host__ __device__
#endif
    constexpr uint32_t
    next_bytes(uint32_t x) {
  return x * 1664525u + 1013904223u;
}

// Each thread reads kTexels places of a square texture of floats with linear filtering, a step apart.
constexpr int kTexels = 16, kTextureWidth = 512;
constexpr float kTextureStep = 1.75f;
constexpr float texel(int x, int y) {
  return float((x * 7 + y * 3) % 32);
}
// The same of a volume, and of four bytes a texel that stand for 0 to 1, where coordinates are from 0 to 1 and repeat.
constexpr int kVolumeWidth = 64;
constexpr float voxel(int x, int y, int z) {
  return texel(x, y + 5 * z);
}
constexpr uint8_t texel_byte(int x, int y, int channel) {
  return uint8_t(texel(x, y)) * 8 + channel;
}

}  // namespace bench
