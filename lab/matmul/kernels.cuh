// C = A B in float, row-major, A is m x k, B is k x n: from one thread to tiles in shared memory.
#pragma once

// Claim: one thread computes everything, and each multiply-add waits for its loads: the GPU is one slow processor.
__global__ void matmul_one_thread(const float* a, const float* b, float* c, int m, int n, int k) {
  for (int row = 0; row < m; ++row)
    for (int column = 0; column < n; ++column) {
      float sum = 0;
      for (int i = 0; i < k; ++i) sum += a[static_cast<long>(row) * k + i] * b[static_cast<long>(i) * n + column];
      c[static_cast<long>(row) * n + column] = sum;
    }
}

// Claim: each thread reads a row of A and a column of B from global memory: 2 loads for 2 operations, ratio 1. Every
// block in that row or column reads the same elements again.
__global__ void matmul_naive(const float* a, const float* b, float* c, int m, int n, int k) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[static_cast<long>(row) * k + i] * b[static_cast<long>(i) * n + column];
  c[static_cast<long>(row) * n + column] = sum;
}

// Claim: if the whole matrices fit in one tile there are no phases. Each element is loaded once, then used by a row or
// a column of threads. One block, m, n, k <= kTile.
template <int kTile>
__global__ void matmul_one_tile(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float tile_a[kTile][kTile], tile_b[kTile][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  if (ty < m && tx < k) tile_a[ty][tx] = a[ty * k + tx];
  if (ty < k && tx < n) tile_b[ty][tx] = b[ty * n + tx];
  __syncthreads();
  if (ty >= m || tx >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += tile_a[ty][i] * tile_b[i][tx];
  c[ty * n + tx] = sum;
}

// Claim: a block loads each tile once and uses every element kTile times from shared memory. Global loads drop by a
// factor kTile, and the compute-to-memory ratio rises to kTile.
template <int kTile>
__global__ void matmul_tiled(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float tile_a[kTile][kTile], tile_b[kTile][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * kTile + ty, column = blockIdx.x * kTile + tx;
  float sum = 0;
  for (int first = 0; first < k; first += kTile) {
    tile_a[ty][tx] = row < m && first + tx < k ? a[static_cast<long>(row) * k + first + tx] : 0;
    tile_b[ty][tx] = first + ty < k && column < n ? b[static_cast<long>(first + ty) * n + column] : 0;
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += tile_a[ty][i] * tile_b[i][tx];
    __syncthreads();
  }
  if (row < m && column < n) c[static_cast<long>(row) * n + column] = sum;
}
