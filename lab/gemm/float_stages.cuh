// The last rung for floats: lanes that share their loads from shared memory, fed by asynchronous copies.
#pragma once

#include "gemm/stages.cuh"

// Shape of a block: a warp is 4 x 8 lanes, and a lane computes kDown x kAcross elements.
template <int kTileM_, int kTileN_, int kTileK_, int kDown_, int kAcross_, int kStages_, int kPerSm_>
struct FloatShape {
  static constexpr int kTileM = kTileM_, kTileN = kTileN_, kTileK = kTileK_, kDown = kDown_, kAcross = kAcross_;
  static constexpr int kStages = kStages_, kPerSm = kPerSm_;
  static constexpr int kWarpsM = kTileM / (4 * kDown), kWarpsN = kTileN / (8 * kAcross);
  static constexpr int kThreads = 32 * kWarpsM * kWarpsN;
  static constexpr int kShared = kStages * (kTileM + kTileN) * kTileK * static_cast<int>(sizeof(float));
  static_assert(kWarpsM > 0 && kWarpsN > 0 && kAcross % 4 == 0 && kTileK % 4 == 0);
};

// The same piece of four neighbouring rows of A, which the lanes of a pass read, lies in different banks.
template <int kTileK>
struct FloatSwizzle {
  static __device__ __forceinline__ int a(int row, int piece) {
    constexpr int kRowsOfBanks = kTileK >= 32 ? 1 : 32 / kTileK;
    return piece ^ (row / kRowsOfBanks & (kTileK / 4 - 1));
  }
  static __device__ __forceinline__ int b(int, int piece) { return piece; }
};

template <class Shape>
using FloatSums = float[Shape::kDown][Shape::kAcross];

// Multiplies one pair of tiles. `row` and `column` are the lane's first in the tiles. B's row is loaded one step ahead.
// A's next 4 steps are too if there are registers for them, when few warps hide the latency.
template <class Shape, class Tiles>
__device__ __forceinline__ void multiply_tiles(FloatSums<Shape>& sum, uint32_t stage, int row, int column) {
  constexpr int kDown = Shape::kDown, kQuads = Shape::kAcross / 4, kAhead = Shape::kAcross >= 16 ? 2 : 1;
  float left[kAhead][kDown][4], right[2][kQuads][4];
  const auto load_left = [&](int piece) {
#pragma unroll
    for (int y = 0; y < kDown; ++y) load_shared(left[piece % kAhead][y], stage + Tiles::at_a(row + 4 * y, piece));
  };
  const auto load_right = [&](int step) {
#pragma unroll
    for (int x = 0; x < kQuads; ++x) load_shared(right[step % 2][x], stage + Tiles::at_b(step, column / 4 + 8 * x));
  };
  load_left(0);
  load_right(0);
#pragma unroll
  for (int step = 0; step < Shape::kTileK; ++step) {
    if (step + 1 < Shape::kTileK) load_right(step + 1);
    if (kAhead == 2 && step % 4 == 1 && step + 3 < Shape::kTileK) load_left(step / 4 + 1);
#pragma unroll
    for (int y = 0; y < kDown; ++y)
#pragma unroll
      for (int x = 0; x < Shape::kAcross; ++x)
        sum[y][x] += left[step / 4 % kAhead][y][step % 4] * right[step % 2][x / 4][x % 4];
    if (kAhead == 1 && step % 4 == 3 && step + 1 < Shape::kTileK) load_left(step / 4 + 1);
  }
}

// Claim: a load of 16 bytes a lane takes 4 passes of 8 lanes. It takes 2 if every lane has the same address as its
// neighbour l ^ 1 or l ^ 2. Here lanes that differ in bit 0 share rows of A, and those that differ in bit 1 share
// columns of B: half the passes of lanes numbered along a row. For 8 x 16 elements a lane that is 12 passes, while the
// multiply-adds of 4 schedulers take 32 cycles. A keeps its layout, so copies need no registers: a lane reads 4 steps
// of a row at a time.
template <class Shape, bool kWide>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kPerSm)
    gemm_float_stages(const float* a, const float* b, float* c, int m, int n, int k) {
  using Tiles =
      Stage<float, Shape::kTileM, Shape::kTileN, Shape::kTileK, Shape::kThreads, kWide, FloatSwizzle<Shape::kTileK>>;
  constexpr int kQuads = Shape::kAcross / 4;
  extern __shared__ __align__(128) unsigned char stages[];
  const uint32_t shared = static_cast<uint32_t>(__cvta_generic_to_shared(stages));
  const TilePlace place =
      tile_place(blockIdx.x, (m + Shape::kTileM - 1) / Shape::kTileM, (n + Shape::kTileN - 1) / Shape::kTileN);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int tx = (lane & 1) | (lane >> 1 & 2) | (lane >> 2 & 4), ty = (lane >> 1 & 1) | (lane >> 2 & 2);
  const int row = warp / Shape::kWarpsN * 4 * Shape::kDown + ty;
  const int column = warp % Shape::kWarpsN * 8 * Shape::kAcross + 4 * tx;

  FloatSums<Shape> sum = {};
  for_tiles<Shape::kStages, Tiles, float, Shape::kTileK>(
      shared, a, b, place.row * Shape::kTileM, place.column * Shape::kTileN, m, n, k,
      [&](uint32_t stage) { multiply_tiles<Shape, Tiles>(sum, stage, row, column); });

#pragma unroll
  for (int y = 0; y < Shape::kDown; ++y) {
    const int to_row = place.row * Shape::kTileM + row + 4 * y;
    if (to_row >= m) return;
#pragma unroll
    for (int x = 0; x < kQuads; ++x) {
      const int to_column = place.column * Shape::kTileN + column + 32 * x;
      float* const to = c + static_cast<long>(to_row) * n + to_column;
      if constexpr (kWide) {
        if (to_column < n)
          *reinterpret_cast<float4*>(to) =
              make_float4(sum[y][4 * x], sum[y][4 * x + 1], sum[y][4 * x + 2], sum[y][4 * x + 3]);
      } else {
#pragma unroll
        for (int i = 0; i < 4; ++i)
          if (to_column + i < n) to[i] = sum[y][4 * x + i];
      }
    }
  }
}
