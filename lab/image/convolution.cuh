// Blur (7 x 7, Gaussian) and edges (Sobel) by convolution. Outside the image: the nearest pixel. Blocks of 32 x 8.
#pragma once

namespace image {

constexpr int kTileX = 32, kTileY = 8;
constexpr int kRadius = 3, kWidth = 2 * kRadius + 1;

__constant__ float filter_2d[kWidth * kWidth];
__constant__ float filter_1d[kWidth];

__device__ inline int inside(int i, int n) {
  return min(max(i, 0), n - 1);
}

// All threads of the block copy its part of the image, with kHalo pixels around it, to shared memory.
template <int kHalo, class T>
__device__ void load_tile(const T* in, T (&tile)[kTileY + 2 * kHalo][kTileX + 2 * kHalo], int rows, int columns) {
  for (int y = threadIdx.y; y < kTileY + 2 * kHalo; y += kTileY)
    for (int x = threadIdx.x; x < kTileX + 2 * kHalo; x += kTileX) {
      const int r = inside(static_cast<int>(blockIdx.y * kTileY) + y - kHalo, rows);
      const int c = inside(static_cast<int>(blockIdx.x * kTileX) + x - kHalo, columns);
      tile[y][x] = in[r * columns + c];
    }
  __syncthreads();
}

// Claim: each result reads 49 pixels and 49 weights from global memory: 98 requests a warp.
__global__ void blur_global(const float* in, const float* filter, float* out, int rows, int columns) {
  const int c = blockIdx.x * kTileX + threadIdx.x, r = blockIdx.y * kTileY + threadIdx.y;
  if (c >= columns || r >= rows) return;
  float sum = 0;
  for (int y = 0; y < kWidth; ++y)
    for (int x = 0; x < kWidth; ++x)
      sum += filter[y * kWidth + x] * in[inside(r + y - kRadius, rows) * columns + inside(c + x - kRadius, columns)];
  out[r * columns + c] = sum;
}

// Claim: all threads read the same weight at once, so from constant memory it costs no request. 49 requests are left.
__global__ void blur_constant(const float* in, float* out, int rows, int columns) {
  const int c = blockIdx.x * kTileX + threadIdx.x, r = blockIdx.y * kTileY + threadIdx.y;
  if (c >= columns || r >= rows) return;
  float sum = 0;
  for (int y = 0; y < kWidth; ++y)
    for (int x = 0; x < kWidth; ++x)
      sum += filter_2d[y * kWidth + x] * in[inside(r + y - kRadius, rows) * columns + inside(c + x - kRadius, columns)];
  out[r * columns + c] = sum;
}

// Claim: the block reads its pixels once, with a halo of 3: 14 x 38 loads for 8 x 32 results, 2.1 each instead of 49.
__global__ void blur_shared(const float* in, float* out, int rows, int columns) {
  __shared__ float tile[kTileY + 2 * kRadius][kTileX + 2 * kRadius];
  load_tile<kRadius>(in, tile, rows, columns);
  const int c = blockIdx.x * kTileX + threadIdx.x, r = blockIdx.y * kTileY + threadIdx.y;
  if (c >= columns || r >= rows) return;
  float sum = 0;
  for (int y = 0; y < kWidth; ++y)
    for (int x = 0; x < kWidth; ++x) sum += filter_2d[y * kWidth + x] * tile[threadIdx.y + y][threadIdx.x + x];
  out[r * columns + c] = sum;
}

// Claim: a Gaussian is a row filter followed by a column filter: 7 + 7 products instead of 49. The price is a plane
// between the two.
__global__ void blur_rows(const float* in, float* out, int rows, int columns) {
  const int c = blockIdx.x * kTileX + threadIdx.x, r = blockIdx.y * kTileY + threadIdx.y;
  if (c >= columns || r >= rows) return;
  float sum = 0;
  for (int x = 0; x < kWidth; ++x) sum += filter_1d[x] * in[r * columns + inside(c + x - kRadius, columns)];
  out[r * columns + c] = sum;
}
__global__ void blur_columns(const float* in, float* out, int rows, int columns) {
  const int c = blockIdx.x * kTileX + threadIdx.x, r = blockIdx.y * kTileY + threadIdx.y;
  if (c >= columns || r >= rows) return;
  float sum = 0;
  for (int y = 0; y < kWidth; ++y) sum += filter_1d[y] * in[inside(r + y - kRadius, rows) * columns + c];
  out[r * columns + c] = sum;
}

// Claim: both passes in one tile, so the plane between never leaves the SM.
__global__ void blur_separable_shared(const float* in, float* out, int rows, int columns) {
  __shared__ float tile[kTileY + 2 * kRadius][kTileX + 2 * kRadius];
  __shared__ float between[kTileY + 2 * kRadius][kTileX];
  load_tile<kRadius>(in, tile, rows, columns);
  for (int y = threadIdx.y; y < kTileY + 2 * kRadius; y += kTileY) {
    float sum = 0;
    for (int x = 0; x < kWidth; ++x) sum += filter_1d[x] * tile[y][threadIdx.x + x];
    between[y][threadIdx.x] = sum;
  }
  __syncthreads();
  const int c = blockIdx.x * kTileX + threadIdx.x, r = blockIdx.y * kTileY + threadIdx.y;
  if (c >= columns || r >= rows) return;
  float sum = 0;
  for (int y = 0; y < kWidth; ++y) sum += filter_1d[y] * between[threadIdx.y + y][threadIdx.x];
  out[r * columns + c] = sum;
}

// Claim: the texture unit clamps the coordinates and caches in two dimensions, but each result still needs 49 fetches.
__global__ void blur_texture(cudaTextureObject_t in, float* out, int rows, int columns) {
  const int c = blockIdx.x * kTileX + threadIdx.x, r = blockIdx.y * kTileY + threadIdx.y;
  if (c >= columns || r >= rows) return;
  float sum = 0;
  for (int y = 0; y < kWidth; ++y)
    for (int x = 0; x < kWidth; ++x)
      sum += filter_2d[y * kWidth + x] * tex2D<float>(in, c + x - kRadius + 0.5f, r + y - kRadius + 0.5f);
  out[r * columns + c] = sum;
}

// Length of the gradient from the 8 neighbours, named by their direction.
__device__ inline float sobel(float nw, float n, float ne, float w, float e, float sw, float s, float se) {
  const float x = (ne + 2 * e + se) - (nw + 2 * w + sw), y = (sw + 2 * s + se) - (nw + 2 * n + ne);
  return sqrtf(x * x + y * y);
}

// Claim: 8 neighbours are 8 requests. Neighbouring pixels use the same sectors, so L1 serves most of them.
__global__ void edges_global(const float* in, float* out, int rows, int columns) {
  const int c = blockIdx.x * kTileX + threadIdx.x, r = blockIdx.y * kTileY + threadIdx.y;
  if (c >= columns || r >= rows) return;
  const int west = inside(c - 1, columns), east = inside(c + 1, columns);
  const float* above = in + inside(r - 1, rows) * columns;
  const float* here = in + r * columns;
  const float* below = in + inside(r + 1, rows) * columns;
  out[r * columns + c] =
      sobel(above[west], above[c], above[east], here[west], here[east], below[west], below[c], below[east]);
}

// Claim: 10 x 34 loads for 8 x 32 results, and 8 shared reads without bank conflicts.
__global__ void edges_shared(const float* in, float* out, int rows, int columns) {
  __shared__ float tile[kTileY + 2][kTileX + 2];
  load_tile<1>(in, tile, rows, columns);
  const int c = blockIdx.x * kTileX + threadIdx.x, r = blockIdx.y * kTileY + threadIdx.y;
  if (c >= columns || r >= rows) return;
  const int x = threadIdx.x + 1, y = threadIdx.y + 1;
  out[r * columns + c] = sobel(tile[y - 1][x - 1], tile[y - 1][x], tile[y - 1][x + 1], tile[y][x - 1], tile[y][x + 1],
                               tile[y + 1][x - 1], tile[y + 1][x], tile[y + 1][x + 1]);
}

// Claim: the same through the texture unit, without clamping code, shared memory or a barrier.
__global__ void edges_texture(cudaTextureObject_t in, float* out, int rows, int columns) {
  const int c = blockIdx.x * kTileX + threadIdx.x, r = blockIdx.y * kTileY + threadIdx.y;
  if (c >= columns || r >= rows) return;
  const float x = c + 0.5f, y = r + 0.5f;
  out[r * columns + c] =
      sobel(tex2D<float>(in, x - 1, y - 1), tex2D<float>(in, x, y - 1), tex2D<float>(in, x + 1, y - 1),
            tex2D<float>(in, x - 1, y), tex2D<float>(in, x + 1, y), tex2D<float>(in, x - 1, y + 1),
            tex2D<float>(in, x, y + 1), tex2D<float>(in, x + 1, y + 1));
}

}  // namespace image
