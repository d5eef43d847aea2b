// The last rung of the blur by texture: the texture unit fetches four pixels at a time, each pixel only once.
#pragma once

#include "image/blur_stream.cuh"

namespace image {

// A lane has 4 columns. The first and the last lane's columns are the halo.
constexpr int kGatherPer = 4, kGatherStrip = 30 * kGatherPer;

// Claim: a texture request costs 8 cycles an SM, however much it returns. 49 requests a pixel take 400 us for 8 million
// pixels on an H200. A gather returns 2 x 2 pixels. The warp streams down its columns as `blur / stream` does:
// neighbours come by shuffles, and the rows between wait in registers. That leaves 0.27 requests a pixel and the halo
// above and below. The limit is again the memory, with 8 bytes a pixel.
template <int kRadius, int kAhead, int kWarps, bool kWide>
__global__ void __launch_bounds__(32 * kWarps)
    blur_gather(cudaTextureObject_t in, float* out, Weights<kRadius> weights, int rows, int columns, int chunk) {
  static_assert(kRadius < kGatherPer);
  constexpr int kTaps = 2 * kRadius + 1;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, strips = (columns + kGatherStrip - 1) / kGatherStrip;
  const int index = blockIdx.x * kWarps + warp, first = index / strips * chunk, last = min(first + chunk, rows);
  if (first >= rows) return;  // the whole warp ends
  const int x = index % strips * kGatherStrip + (lane - 1) * kGatherPer;
  float4 ahead[kAhead][2];  // rows y and y + 1, columns x and x + 1, then x + 2 and x + 3
  const auto ask = [&](float4(&to)[2], int y) {
    to[0] = tex2Dgather<float4>(in, static_cast<float>(x + 1), static_cast<float>(y + 1));
    to[1] = tex2Dgather<float4>(in, static_cast<float>(x + 3), static_cast<float>(y + 1));
  };
  float sums[kTaps][kGatherPer] = {};
#pragma unroll
  for (int i = 0; i < kAhead; ++i) ask(ahead[i], first - kRadius + 2 * i);
#pragma unroll 1
  for (int y = first - kRadius; y < last + kRadius; y += 2 * kAhead)
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      const float4 a = ahead[i][0], b = ahead[i][1];
      ask(ahead[i], y + 2 * (i + kAhead));
      const float two_rows[2][kGatherPer] = {{a.w, a.z, b.w, b.z}, {a.x, a.y, b.x, b.y}};
#pragma unroll
      for (int down = 0; down < 2; ++down) {
        float pixels[kGatherPer + 2 * kRadius];
#pragma unroll
        for (int j = 0; j < kGatherPer; ++j) pixels[kRadius + j] = two_rows[down][j];
#pragma unroll
        for (int j = 0; j < kRadius; ++j) {
          pixels[j] = __shfl_up_sync(~0u, two_rows[down][kGatherPer - kRadius + j], 1);
          pixels[kRadius + kGatherPer + j] = __shfl_down_sync(~0u, two_rows[down][j], 1);
        }
#pragma unroll
        for (int j = 0; j < kGatherPer; ++j) {
          float along = 0;
#pragma unroll
          for (int t = 0; t < kTaps; ++t) along += weights.w[t] * pixels[j + t];
#pragma unroll
          for (int t = 0; t < kTaps - 1; ++t) sums[t][j] = sums[t + 1][j] + weights.w[kTaps - 1 - t] * along;
          sums[kTaps - 1][j] = weights.w[0] * along;
        }
        const int done = y + 2 * i + down - kRadius;
        if (done < first || done >= last || lane == 0 || lane == 31) continue;
        float* const to = out + static_cast<long>(done) * columns + x;
        if (kWide) {
          if (x < columns) *reinterpret_cast<float4*>(to) = make_float4(sums[0][0], sums[0][1], sums[0][2], sums[0][3]);
        } else {
#pragma unroll
          for (int j = 0; j < kGatherPer; ++j)
            if (x + j < columns) to[j] = sums[0][j];
        }
      }
    }
}

}  // namespace image
