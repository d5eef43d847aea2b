// The median of the 3 x 3 or 5 x 5 pixels around each pixel: removes specks, keeps edges. Blocks of 32 x 8.
#pragma once

#include "image/convolution.cuh"

namespace image {

// The data determine the index, so the array is in local memory, and a warp waits for its slowest lane.
template <int kCount>
__device__ unsigned char middle_by_insertion(unsigned char (&window)[kCount]) {
  for (int i = 1; i < kCount; ++i) {
    const unsigned char value = window[i];
    int j = i;
    for (; j > 0 && window[j - 1] > value; --j) window[j] = window[j - 1];
    window[j] = value;
  }
  return window[kCount / 2];
}

// Claim: every thread gathers its window from global memory and sorts it in local memory.
template <int kHalo>
__global__ void median_global(const unsigned char* in, unsigned char* out, int rows, int columns) {
  constexpr int kSide = 2 * kHalo + 1;
  const int c = blockIdx.x * kTileX + threadIdx.x, r = blockIdx.y * kTileY + threadIdx.y;
  if (c >= columns || r >= rows) return;
  unsigned char window[kSide * kSide];
  for (int y = 0; y < kSide; ++y)
    for (int x = 0; x < kSide; ++x)
      window[y * kSide + x] = in[inside(r + y - kHalo, rows) * columns + inside(c + x - kHalo, columns)];
  out[r * columns + c] = middle_by_insertion(window);
}

// Claim: the window comes from a tile in shared memory. This gains little, because the sort is the cost.
template <int kHalo>
__global__ void median_shared(const unsigned char* in, unsigned char* out, int rows, int columns) {
  constexpr int kSide = 2 * kHalo + 1;
  __shared__ unsigned char tile[kTileY + 2 * kHalo][kTileX + 2 * kHalo];
  load_tile<kHalo>(in, tile, rows, columns);
  const int c = blockIdx.x * kTileX + threadIdx.x, r = blockIdx.y * kTileY + threadIdx.y;
  if (c >= columns || r >= rows) return;
  unsigned char window[kSide * kSide];
  for (int y = 0; y < kSide; ++y)
    for (int x = 0; x < kSide; ++x) window[y * kSide + x] = tile[threadIdx.y + y][threadIdx.x + x];
  out[r * columns + c] = middle_by_insertion(window);
}

__device__ inline void exchange(int& low, int& high) {
  const int smaller = min(low, high);
  high = max(low, high);
  low = smaller;
}

// Claim: a network of minima and maxima in registers: no local memory, no branch, equal work for all pixels. Of kCount
// / 2 + 2 values, neither the least nor the greatest can be the median: drop both, add the next value, repeat.
template <int kHalo>
__global__ void median_network(const unsigned char* in, unsigned char* out, int rows, int columns) {
  constexpr int kSide = 2 * kHalo + 1, kCount = kSide * kSide, kStart = kCount / 2 + 2;
  __shared__ unsigned char tile[kTileY + 2 * kHalo][kTileX + 2 * kHalo];
  load_tile<kHalo>(in, tile, rows, columns);
  const int c = blockIdx.x * kTileX + threadIdx.x, r = blockIdx.y * kTileY + threadIdx.y;
  if (c >= columns || r >= rows) return;
  int kept[kStart];
#pragma unroll
  for (int i = 0; i < kStart; ++i) kept[i] = tile[threadIdx.y + i / kSide][threadIdx.x + i % kSide];
#pragma unroll
  for (int next = kStart; next <= kCount; ++next) {
    const int left = kStart - (next - kStart);  // values kept: the least goes to 0, the greatest to left - 1
#pragma unroll
    for (int i = 1; i < left; ++i) exchange(kept[0], kept[i]);
#pragma unroll
    for (int i = 1; i < left - 1; ++i) exchange(kept[i], kept[left - 1]);
    if (next < kCount) kept[0] = tile[threadIdx.y + next / kSide][threadIdx.x + next % kSide];
  }
  out[r * columns + c] = static_cast<unsigned char>(kept[1]);
}

}  // namespace image
