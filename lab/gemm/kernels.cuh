// C = A B, row-major, A is m x k, B is k x n, any sizes, T is double or float: from one thread to shared memory. The
// rungs that follow, with registers, are those of matmul/register_tile.cuh.
#pragma once

// Claim: one thread, rows of C built up in memory (row, step, column: the order that suits a cache): one multiply-add
// at a time, and three accesses for it.
template <class T>
__global__ void gemm_one_thread(const T* a, const T* b, T* c, int m, int n, int k) {
  for (int row = 0; row < m; ++row) {
    T* out = c + static_cast<long>(row) * n;
    for (int column = 0; column < n; ++column) out[column] = 0;
    for (int i = 0; i < k; ++i)
      for (int column = 0; column < n; ++column)
        out[column] += a[static_cast<long>(row) * k + i] * b[static_cast<long>(i) * n + column];
  }
}

// Claim: one thread for each element: all SMs work, and each multiply-add needs two loads, one from A, one from B.
template <class T>
__global__ void gemm_one_element(const T* a, const T* b, T* c, int m, int n, int k) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || column >= n) return;
  T sum = 0;
  for (int i = 0; i < k; ++i) sum += a[static_cast<long>(row) * k + i] * b[static_cast<long>(i) * n + column];
  c[static_cast<long>(row) * n + column] = sum;
}

// Claim: kCount elements below each other share the element of B: 1 + kCount loads for kCount multiply-adds instead of
// 2 kCount. A warp still reads B along a row, so every request stays as short as it was.
template <class T, int kCount>
__global__ void gemm_down(const T* a, const T* b, T* c, int m, int n, int k) {
  const int row = (blockIdx.y * blockDim.y + threadIdx.y) * kCount, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || column >= n) return;
  const T* from[kCount];  // rows that do not exist read the last one, and are not stored
  for (int p = 0; p < kCount; ++p) from[p] = a + static_cast<long>(min(row + p, m - 1)) * k;
  T sum[kCount] = {};
  for (int i = 0; i < k; ++i) {
    const T right = b[static_cast<long>(i) * n + column];
    for (int p = 0; p < kCount; ++p) sum[p] += from[p][i] * right;
  }
  for (int p = 0; p < kCount && row + p < m; ++p) c[static_cast<long>(row + p) * n + column] = sum[p];
}

// Claim: kCount elements beside each other share the element of A: as few loads as below each other, but now the
// threads of a warp read B kCount elements apart: each request touches kCount times the sectors.
template <class T, int kCount>
__global__ void gemm_across(const T* a, const T* b, T* c, int m, int n, int k) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, column = (blockIdx.x * blockDim.x + threadIdx.x) * kCount;
  if (row >= m || column >= n) return;
  int from[kCount];
  for (int p = 0; p < kCount; ++p) from[p] = min(column + p, n - 1);
  T sum[kCount] = {};
  for (int i = 0; i < k; ++i) {
    const T left = a[static_cast<long>(row) * k + i];
    for (int p = 0; p < kCount; ++p) sum[p] += left * b[static_cast<long>(i) * n + from[p]];
  }
  for (int p = 0; p < kCount && column + p < n; ++p) c[static_cast<long>(row) * n + column + p] = sum[p];
}

// Claim: the document's last step: tiles of 32 x 32 in shared memory, one row of the block a warp, global loads down by
// 32. The sum too lies in shared memory, so that each multiply-add reads three words there and writes one.
template <class T, int kTile>
__global__ void gemm_shared_sum(const T* a, const T* b, T* c, int m, int n, int k) {
  __shared__ T tile_a[kTile][kTile], tile_b[kTile][kTile], tile_c[kTile][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * kTile + ty, column = blockIdx.x * kTile + tx;
  volatile T& sum = tile_c[ty][tx];  // volatile: a compiler would keep it in a register otherwise
  sum = 0;
  for (int first = 0; first < k; first += kTile) {
    tile_a[ty][tx] = row < m && first + tx < k ? a[static_cast<long>(row) * k + first + tx] : T(0);
    tile_b[ty][tx] = first + ty < k && column < n ? b[static_cast<long>(first + ty) * n + column] : T(0);
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum = sum + tile_a[ty][i] * tile_b[i][tx];
    __syncthreads();
  }
  if (row < m && column < n) c[static_cast<long>(row) * n + column] = sum;
}

// Claim: the same with the sum in a register, where only its own thread needs it: two words for each multiply-add.
template <class T, int kTile>
__global__ void gemm_shared(const T* a, const T* b, T* c, int m, int n, int k) {
  __shared__ T tile_a[kTile][kTile], tile_b[kTile][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * kTile + ty, column = blockIdx.x * kTile + tx;
  T sum = 0;
  for (int first = 0; first < k; first += kTile) {
    tile_a[ty][tx] = row < m && first + tx < k ? a[static_cast<long>(row) * k + first + tx] : T(0);
    tile_b[ty][tx] = first + ty < k && column < n ? b[static_cast<long>(first + ty) * n + column] : T(0);
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += tile_a[ty][i] * tile_b[i][tx];
    __syncthreads();
  }
  if (row < m && column < n) c[static_cast<long>(row) * n + column] = sum;
}
