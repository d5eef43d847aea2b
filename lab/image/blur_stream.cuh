// The last rung of the separable blur: both passes in one, by warps that stream down their columns.
#pragma once

#include <cstdint>

#include "gemm/stages.cuh"

namespace image {

// Passed by value, so that a weight is an operand in constant memory.
template <int kRadius>
struct Weights {
  float w[2 * kRadius + 1];
};

// A strip of 128 columns and its halo. Rows are requested kAhead - 1 rows before their use.
template <int kRadius_, int kAhead_, int kWarps_ = 4>
struct BlurStrip {
  static constexpr int kRadius = kRadius_, kAhead = kAhead_, kWarps = kWarps_, kPer = 4, kWidth = 32 * kPer;
  static constexpr int kHalo = (kRadius + 3) / 4 * 4, kTaps = 2 * kRadius + 1;
  static constexpr int kPieces = (kWidth + 2 * kHalo) / 4, kRowBytes = kPieces * 16,
                       kShared = kWarps * kAhead * kRowBytes;
  static_assert((kAhead & (kAhead - 1)) == 0 && kPieces <= 64);
};

// Requests row `y` of the image, or the nearest one in it: whole 16-byte pieces if they exist, otherwise pixels.
template <class S, bool kWide>
__device__ __forceinline__ void ask_row(uint32_t ring, const float* in, int y, int left, int rows, int columns) {
  const float* const from = in + static_cast<long>(min(max(y, 0), rows - 1)) * columns;
  const uint32_t to = ring + (y & (S::kAhead - 1)) * S::kRowBytes;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int piece = threadIdx.x % 32 + 32 * i, x = left + 4 * piece;
    if (piece >= S::kPieces) break;
    if (kWide && x >= 0 && x + 4 <= columns) {
      copy_async<16>(to + piece * 16, from + x, true);
    } else {
#pragma unroll
      for (int j = 0; j < 4; ++j) copy_async<4>(to + piece * 16 + j * 4, from + min(max(x + j, 0), columns - 1), true);
    }
  }
}

// Claim: the plane between the passes is never stored. A new row is blurred along the row. The result is added at once
// to the sums of the 2 kRadius + 1 rows that need it. These sums are registers and move on by one with each addition.
// A pixel costs 8 bytes of memory, a quarter of 5 loads of 16 bytes from shared memory (17 taps), and 34
// multiply-adds.
template <class S, bool kWide>
__global__ void __launch_bounds__(32 * S::kWarps)
    blur_stream(const float* in, float* out, Weights<S::kRadius> weights, int rows, int columns, int chunk) {
  extern __shared__ __align__(16) unsigned char blur_rings[];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, strips = (columns + S::kWidth - 1) / S::kWidth;
  const int index = blockIdx.x * S::kWarps + warp, first = index / strips * chunk, last = min(first + chunk, rows);
  if (first >= rows) return;  // the whole warp ends
  const int left = index % strips * S::kWidth, x = left + lane * S::kPer;
  const uint32_t ring = static_cast<uint32_t>(__cvta_generic_to_shared(blur_rings)) + warp * S::kAhead * S::kRowBytes;
  const auto ask = [&](int y) {
    if (y < last + S::kRadius) ask_row<S, kWide>(ring, in, y, left - S::kHalo, rows, columns);
    commit_copies();
  };
  float sums[S::kTaps][S::kPer] = {};
  for (int i = 0; i < S::kAhead - 1; ++i) ask(first - S::kRadius + i);
#pragma unroll 1
  for (int y = first - S::kRadius; y < last + S::kRadius; ++y) {
    await_copies<S::kAhead - 2>();
    __syncwarp();
    ask(y + S::kAhead - 1);
    float pixels[S::kPer + 2 * S::kHalo];
#pragma unroll
    for (int p = 0; p < 1 + S::kHalo / 2; ++p) {
      float piece[4];
      load_shared(piece, ring + (y & (S::kAhead - 1)) * S::kRowBytes + (lane + p) * 16);
#pragma unroll
      for (int j = 0; j < 4; ++j) pixels[4 * p + j] = piece[j];
    }
#pragma unroll
    for (int j = 0; j < S::kPer; ++j) {
      float along = 0;
#pragma unroll
      for (int t = 0; t < S::kTaps; ++t) along += weights.w[t] * pixels[S::kHalo - S::kRadius + j + t];
#pragma unroll
      for (int t = 0; t < S::kTaps - 1; ++t) sums[t][j] = sums[t + 1][j] + weights.w[S::kTaps - 1 - t] * along;
      sums[S::kTaps - 1][j] = weights.w[0] * along;
    }
    if (y - S::kRadius < first) continue;
    float* const to = out + static_cast<long>(y - S::kRadius) * columns + x;
    if (kWide) {
      if (x < columns) *reinterpret_cast<float4*>(to) = make_float4(sums[0][0], sums[0][1], sums[0][2], sums[0][3]);
    } else {
#pragma unroll
      for (int j = 0; j < S::kPer; ++j)
        if (x + j < columns) to[j] = sums[0][j];
    }
  }
}

}  // namespace image
