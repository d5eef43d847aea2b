// Rungs that run on each GPU with tensor cores for 16-bit types: one element, a tile, products of warps.
#pragma once

#include "gemm/stages.cuh"
#include "hgemm/types.cuh"

// Claim: the usual product. Each multiply-add needs two loads.
template <class T>
__global__ void hgemm_one_element(const T* a, const T* b, T* c, int m, int n, int k) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i)
    sum += static_cast<float>(a[static_cast<long>(row) * k + i]) *
           static_cast<float>(b[static_cast<long>(i) * n + column]);
  c[static_cast<long>(row) * n + column] = static_cast<T>(sum);
}

// Claim: a tile of 32 x 32 in shared memory needs 32 times fewer loads of global memory.
template <class T>
__global__ void hgemm_tile(const T* a, const T* b, T* c, int m, int n, int k) {
  constexpr int kTile = 32;
  __shared__ T tile_a[kTile][kTile], tile_b[kTile][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * kTile + ty, column = blockIdx.x * kTile + tx;
  float sum = 0;
  for (int first = 0; first < k; first += kTile) {
    tile_a[ty][tx] = row < m && first + tx < k ? a[static_cast<long>(row) * k + first + tx] : static_cast<T>(0.0f);
    tile_b[ty][tx] =
        first + ty < k && column < n ? b[static_cast<long>(first + ty) * n + column] : static_cast<T>(0.0f);
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += static_cast<float>(tile_a[ty][i]) * static_cast<float>(tile_b[i][tx]);
    __syncthreads();
  }
  if (row < m && column < n) c[static_cast<long>(row) * n + column] = static_cast<T>(sum);
}

// Four matrices of 8 x 8 elements from shared memory, one row of 16 bytes from each lane.
__device__ __forceinline__ void load_matrices(uint32_t (&v)[4], uint32_t from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
               : "r"(from)
               : "memory");
}
__device__ __forceinline__ void load_matrices_transposed(uint32_t (&v)[4], uint32_t from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
               : "r"(from)
               : "memory");
}

// A warp's product: D (16 x 8 floats) += A (16 x 16) B (16 x 8).
template <class T>
__device__ __forceinline__ void warp_product(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  if constexpr (std::is_same_v<T, __half>)
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  else
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Tiles of A (kTileM x kTileK) and B (kTileK x kTileN) of one stage. Rows are padded by 16 bytes, so that 8 rows of a
// matrix lie in different banks.
struct WarpTiles {
  static constexpr int kTileM = 128, kTileN = 128, kTileK = 32, kThreads = 256;
  static constexpr int kPitchA = kTileK * 2 + 16, kPitchB = kTileN * 2 + 16;
  static constexpr int kBytesA = kTileM * kPitchA, kBytes = kBytesA + kTileK * kPitchB;

  // Starts the copies of the tiles at row0, column0 and step `first`. n and k are multiples of 8.
  template <class T>
  static __device__ __forceinline__ void copy(uint32_t to, const T* a, const T* b, int row0, int column0, int first,
                                              int m, int n, int k) {
#pragma unroll
    for (int i = 0; i < kTileM * kTileK / 8 / kThreads; ++i) {
      const int piece = threadIdx.x + i * kThreads, row = piece / (kTileK / 8), step = piece % (kTileK / 8) * 8;
      const bool exists = row0 + row < m && first + step < k;
      copy_async<16>(to + row * kPitchA + step * 2, exists ? a + static_cast<long>(row0 + row) * k + first + step : a,
                     exists);
    }
#pragma unroll
    for (int i = 0; i < kTileK * kTileN / 8 / kThreads; ++i) {
      const int piece = threadIdx.x + i * kThreads, step = piece / (kTileN / 8), column = piece % (kTileN / 8) * 8;
      const bool exists = first + step < k && column0 + column < n;
      copy_async<16>(to + kBytesA + step * kPitchB + column * 2,
                     exists ? b + static_cast<long>(first + step) * n + column0 + column : b, exists);
    }
  }

  // A warp's part of the product of two tiles: 64 rows x 32 columns.
  template <class T>
  static __device__ __forceinline__ void multiply(float (&sum)[4][4][4], uint32_t from, int warp_row, int warp_column) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int step = 0; step < kTileK; step += 16) {
      uint32_t left[4][4], right[2][4];
#pragma unroll
      for (int y = 0; y < 4; ++y)
        load_matrices(left[y], from + (warp_row + 16 * y + lane % 16) * kPitchA + (step + lane / 16 * 8) * 2);
#pragma unroll
      for (int x = 0; x < 2; ++x)
        load_matrices_transposed(
            right[x], from + kBytesA + (step + lane % 16) * kPitchB + (warp_column + 16 * x + lane / 16 * 8) * 2);
#pragma unroll
      for (int y = 0; y < 4; ++y)
#pragma unroll
        for (int x = 0; x < 4; ++x)
          warp_product<T>(sum[y][x], left[y], right[x / 2][x % 2 * 2], right[x / 2][x % 2 * 2 + 1]);
    }
  }
};

// Claim (one stage): a tensor core does 4096 multiply-adds an instruction of a warp. Now the time goes into waiting for
// tiles. Claim (four stages): copies of the next three tiles are in flight meanwhile.
template <class T, int kStages>
__global__ void __launch_bounds__(WarpTiles::kThreads) hgemm_warps(const T* a, const T* b, T* c, int m, int n, int k) {
  using Tiles = WarpTiles;
  extern __shared__ __align__(128) unsigned char stages[];
  const uint32_t shared = static_cast<uint32_t>(__cvta_generic_to_shared(stages));
  const TilePlace place =
      tile_place(blockIdx.x, (m + Tiles::kTileM - 1) / Tiles::kTileM, (n + Tiles::kTileN - 1) / Tiles::kTileN);
  const int row0 = place.row * Tiles::kTileM, column0 = place.column * Tiles::kTileN, warp = threadIdx.x / 32;
  const int warp_row = warp / 4 * 64, warp_column = warp % 4 * 32, count = (k + Tiles::kTileK - 1) / Tiles::kTileK;
  const auto copy = [&](int t) {
    if (t < count) Tiles::copy(shared + t % kStages * Tiles::kBytes, a, b, row0, column0, t * Tiles::kTileK, m, n, k);
    commit_copies();
  };

  float sum[4][4][4] = {};
  for (int t = 0; t < kStages - 1; ++t) copy(t);
  for (int t = 0; t < count; ++t) {
    if constexpr (kStages == 1) copy(t);
    await_copies<kStages == 1 ? 0 : kStages - 2>();
    __syncthreads();
    if constexpr (kStages > 1) copy(t + kStages - 1);
    Tiles::multiply<T>(sum, shared + t % kStages * Tiles::kBytes, warp_row, warp_column);
    if constexpr (kStages == 1) __syncthreads();
  }

  const int g = threadIdx.x % 32 / 4, q = threadIdx.x % 4;
#pragma unroll
  for (int y = 0; y < 8; ++y) {
    const int row = row0 + warp_row + 8 * y + g;
    if (row >= m) return;
#pragma unroll
    for (int x = 0; x < 4; ++x) {
      const int column = column0 + warp_column + 8 * x + 2 * q;
      if (column < n)
        *reinterpret_cast<uint32_t*>(c + static_cast<long>(row) * n + column) =
            pack<T>(sum[y / 2][x][y % 2 * 2], sum[y / 2][x][y % 2 * 2 + 1]);
    }
  }
}
