// C = A B, row-major, A is m x k, B is k x n, any sizes, T is double or float: from one thread to shared memory. The
// rungs that follow compute in registers (matmul/register_tile.cuh).
#pragma once

// Claim: one thread does one multiply-add at a time, with three memory accesses for each. It builds up rows of C in
// memory (row, step, column: the loop order that suits a cache).
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

// Claim: one thread for each element: all SMs work. Each multiply-add needs two loads, one from A and one from B.
template <class T>
__global__ void gemm_one_element(const T* a, const T* b, T* c, int m, int n, int k) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || column >= n) return;
  T sum = 0;
  for (int i = 0; i < k; ++i) sum += a[static_cast<long>(row) * k + i] * b[static_cast<long>(i) * n + column];
  c[static_cast<long>(row) * n + column] = sum;
}

// Claim: kCount elements in a column share the element of B: 1 + kCount loads for kCount multiply-adds instead of 2
// kCount. A warp still reads B along a row, so a request touches no more sectors than before.
template <class T, int kCount>
__global__ void gemm_down(const T* a, const T* b, T* c, int m, int n, int k) {
  const int row = (blockIdx.y * blockDim.y + threadIdx.y) * kCount, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || column >= n) return;
  const T* from[kCount];  // missing rows read the last one and are not stored
  for (int p = 0; p < kCount; ++p) from[p] = a + static_cast<long>(min(row + p, m - 1)) * k;
  T sum[kCount] = {};
  for (int i = 0; i < k; ++i) {
    const T right = b[static_cast<long>(i) * n + column];
    for (int p = 0; p < kCount; ++p) sum[p] += from[p][i] * right;
  }
  for (int p = 0; p < kCount && row + p < m; ++p) c[static_cast<long>(row + p) * n + column] = sum[p];
}

// Claim: kCount elements in a row share the element of A: as few loads as in a column. But the threads of a warp now
// read B kCount elements apart, so each request touches kCount times the sectors.
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
#pragma unroll  // otherwise clang leaves the sums in local memory
  for (int p = 0; p < kCount && column + p < n; ++p) c[static_cast<long>(row) * n + column + p] = sum[p];
}

// Claim: the document's last step. Tiles of 32 x 32 in shared memory, one row of the block a warp: 32 times fewer
// global loads. The sum is in shared memory too, so each multiply-add reads three words there and writes one.
template <class T, int kTile>
__global__ void gemm_shared_sum(const T* a, const T* b, T* c, int m, int n, int k) {
  __shared__ T tile_a[kTile][kTile], tile_b[kTile][kTile], tile_c[kTile][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * kTile + ty, column = blockIdx.x * kTile + tx;
  volatile T& sum = tile_c[ty][tx];  // volatile: otherwise a compiler would keep it in a register
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

// Claim: as before, but the sum is in a register, since only its own thread needs it: two words for each multiply-add.
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

// One step of a warp on the tensor cores: D = A B + D, with A 8 x 4, B 4 x 8, D 8 x 8 doubles over the lanes. Lane l
// holds A[l / 4][l % 4], B[l % 4][l / 4], D[l / 4][2 (l % 4)] and the element right of it.
__device__ __forceinline__ void tensor_step(double (&d)[2], double a, double b) {
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
               : "+d"(d[0]), "+d"(d[1])
               : "d"(a), "d"(b));
}

// Claim: the tensor cores multiply doubles too, at twice the rate of the ordinary units (H200: 67 against 34 TFLOP/s).
// A warp computes 32 x 32 elements with 256 multiply-adds an instruction. A lane reads 8 words for 16 instructions.
// Padding of 4 doubles a row keeps those reads free of bank conflicts.
template <int kDepth>
__global__ void __launch_bounds__(128) gemm_tensor(const double* a, const double* b, double* c, int m, int n, int k) {
  constexpr int kTile = 64, kThreads = 128;
  __shared__ double tile_a[kTile][kDepth + 4], tile_b[kDepth][kTile + 4];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, row0 = blockIdx.y * kTile, column0 = blockIdx.x * kTile;
  const int warp_row = warp / 2 * 32 + lane / 4, warp_column = warp % 2 * 32;
  double sum[4][4][2] = {};
  for (int first = 0; first < k; first += kDepth) {
    for (int t = threadIdx.x; t < kTile * kDepth; t += kThreads) {
      const int y = t / kDepth, i = t % kDepth, x = t % kTile, j = t / kTile;
      tile_a[y][i] = row0 + y < m && first + i < k ? a[static_cast<long>(row0 + y) * k + first + i] : 0;
      tile_b[j][x] = first + j < k && column0 + x < n ? b[static_cast<long>(first + j) * n + column0 + x] : 0;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kDepth; i += 4) {
      double left[4], right[4];
#pragma unroll
      for (int t = 0; t < 4; ++t) {
        left[t] = tile_a[warp_row + 8 * t][i + lane % 4];
        right[t] = tile_b[i + lane % 4][warp_column + 8 * t + lane / 4];
      }
#pragma unroll
      for (int y = 0; y < 4; ++y)
#pragma unroll
        for (int x = 0; x < 4; ++x) tensor_step(sum[y][x], left[y], right[x]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int y = 0; y < 4; ++y) {
    const int row = row0 + warp_row + 8 * y;
    if (row >= m) return;
#pragma unroll
    for (int x = 0; x < 8; ++x) {
      const int column = column0 + warp_column + 8 * (x / 2) + 2 * (lane % 4) + x % 2;
      if (column >= n) break;
      c[static_cast<long>(row) * n + column] = sum[y][x / 2][x % 2];
    }
  }
}
