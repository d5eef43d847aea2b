// Compression as in JPEG: discrete cosine transform of 8 x 8 pixels, coefficients divided and rounded, and back.
// Coefficient (v, u) of a block takes the place of its pixel (y, x), in planes whose sides are multiples of 8. Pixels
// outside the image equal the nearest one.
#pragma once

#include "image/convolution.cuh"

namespace image {

constexpr int kBlock = 8;

__constant__ float cosines[kBlock * kBlock];     // [frequency][place], with the factor that makes the rows orthonormal
__constant__ float quantisers[kBlock * kBlock];  // [v][u]

__device__ inline unsigned char to_pixel(float value) {
  return static_cast<unsigned char>(__float2int_rn(fminf(fmaxf(value + 128, 0), 255)));
}

// Claim: each coefficient is a sum over 64 pixels of global memory. The lanes' cosines differ, so constant memory
// serves one address after the other.
__global__ void dct_naive(const unsigned char* in, short* coefficients, int rows, int columns, int padded_columns) {
  const int c = blockIdx.x * kTileX + threadIdx.x, r = blockIdx.y * kTileY + threadIdx.y;
  if (c >= padded_columns) return;
  const int u = c % kBlock, v = r % kBlock;
  float sum = 0;
  for (int y = 0; y < kBlock; ++y)
    for (int x = 0; x < kBlock; ++x) {
      const float pixel = in[min(r - v + y, rows - 1) * columns + min(c - u + x, columns - 1)];
      sum += (pixel - 128) * cosines[v * kBlock + y] * cosines[u * kBlock + x];
    }
  coefficients[r * padded_columns + c] = static_cast<short>(__float2int_rn(sum / quantisers[v * kBlock + u]));
}
__global__ void inverse_naive(const short* coefficients, unsigned char* out, int rows, int columns,
                              int padded_columns) {
  const int c = blockIdx.x * kTileX + threadIdx.x, r = blockIdx.y * kTileY + threadIdx.y;
  if (c >= columns || r >= rows) return;
  const int x = c % kBlock, y = r % kBlock;
  float sum = 0;
  for (int v = 0; v < kBlock; ++v)
    for (int u = 0; u < kBlock; ++u)
      sum += coefficients[(r - y + v) * padded_columns + c - x + u] * quantisers[v * kBlock + u] *
             cosines[v * kBlock + y] * cosines[u * kBlock + x];
  out[r * columns + c] = to_pixel(sum);
}

// Claim: rows first, then columns, in shared memory: 16 products each way instead of 64, and each pixel is read once.
// The cosines are there too, 9 words a row, so that lanes with different frequencies read different banks.
__global__ void dct_shared(const unsigned char* in, short* coefficients, unsigned char* out, int rows, int columns,
                           int padded_columns) {
  __shared__ float a[kBlock][kTileX], b[kBlock][kTileX], cosine[kBlock][kBlock + 1];
  const int c = blockIdx.x * kTileX + threadIdx.x, r = blockIdx.y * kTileY + threadIdx.y;
  const int x = threadIdx.x % kBlock, y = threadIdx.y, first = threadIdx.x - x;
  if (threadIdx.x < kBlock) cosine[y][x] = cosines[y * kBlock + x];
  a[y][threadIdx.x] = static_cast<float>(in[min(r, rows - 1) * columns + min(c, columns - 1)]) - 128;
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < kBlock; ++i) sum += a[y][first + i] * cosine[x][i];
  b[y][threadIdx.x] = sum;
  __syncthreads();
  sum = 0;
  for (int i = 0; i < kBlock; ++i) sum += b[i][threadIdx.x] * cosine[y][i];
  const float quantiser = quantisers[y * kBlock + x];
  const int coefficient = __float2int_rn(sum / quantiser);
  if (c < padded_columns) coefficients[r * padded_columns + c] = static_cast<short>(coefficient);
  a[y][threadIdx.x] = coefficient * quantiser;
  __syncthreads();
  sum = 0;
  for (int i = 0; i < kBlock; ++i) sum += a[i][threadIdx.x] * cosine[i][y];
  __syncthreads();  // all threads have read the old contents of b
  b[y][threadIdx.x] = sum;
  __syncthreads();
  sum = 0;
  for (int i = 0; i < kBlock; ++i) sum += b[y][first + i] * cosine[i][x];
  if (c < columns && r < rows) out[r * columns + c] = to_pixel(sum);
}

}  // namespace image
