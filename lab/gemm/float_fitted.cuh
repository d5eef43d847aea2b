// The fitted rung for floats: registers placed so that multiply-adds find their operands in different banks.
#pragma once

#include "gemm/fitted.cuh"

// Shape of a block: a warp is 4 x 8 lanes, and a lane computes kDown x kAcross elements. The copies of a pair of tiles
// are started in kParts parts, one at each of as many steps.
template <int kTileM_, int kTileN_, int kDown_, int kAcross_, int kStages_, int kPerSm_, int kParts_>
struct FittedFloatShape {
  static constexpr int kTileM = kTileM_, kTileN = kTileN_, kTileK = 16, kDown = kDown_, kAcross = kAcross_;
  static constexpr int kStages = kStages_, kPerSm = kPerSm_, kParts = kParts_;
  static constexpr int kWarpsM = kTileM / (4 * kDown), kWarpsN = kTileN / (8 * kAcross);
  static constexpr int kThreads = 32 * kWarpsM * kWarpsN;
  static constexpr int kPitchA = kTileM + 4;  // one step of A: its rows side by side
  static constexpr int kBytesA = kTileK * kPitchA * 4, kBytes = kBytesA + kTileK * kTileN * 4;
  static constexpr int kShared = kStages * kBytes;
  static constexpr int kPiecesN = kTileN / 4;                                // pieces of 16 bytes
  static constexpr int kRowsA = kThreads / 8, kRowsB = kThreads / kPiecesN;  // rows of a round of copies
  static constexpr int kRoundsA = kTileM * kTileK / kThreads, kRoundsB = kTileK / kRowsB;
  static_assert(kTileM % kRowsA == 0 && kTileK % kRowsB == 0 && kDown % 4 == 0 && kAcross % 4 == 0);
  static_assert(kParts < kTileK && kTileM == 4 * kDown * kWarpsM && kTileN == 8 * kAcross * kWarpsN);
};

// A block's part of C. kInside: C is at least as large as a tile. Then the last tiles of a row or column begin earlier,
// so that no copy checks for the end of C. Rows before first_row and columns before first_column are computed twice;
// the other block stores them.
struct TileCorner {
  int row, column, first_row, first_column;
};
template <class Shape, bool kInside>
__device__ __forceinline__ TileCorner tile_corner(int m, int n) {
  const TilePlace place =
      tile_place(blockIdx.x, (m + Shape::kTileM - 1) / Shape::kTileM, (n + Shape::kTileN - 1) / Shape::kTileN);
  const int row = place.row * Shape::kTileM, column = place.column * Shape::kTileN;
  return {kInside ? min(row, m - Shape::kTileM) : row, kInside ? min(column, n - Shape::kTileN) : column, row, column};
}

// A thread's copies: source and destination of its first pieces of the next tiles. A is transposed on its way to shared
// memory, element by element: 8 threads copy 8 steps of a row.
template <class Shape, bool kWide, bool kInside>
struct FittedFloatCopy {
  const float *a, *b;
  uint32_t to_a, to_b;
  int m, n, k, row0, column0;

  __device__ __forceinline__ FittedFloatCopy(const float* a_, const float* b_, int m_, int n_, int k_,
                                             const TileCorner& corner, uint32_t stage)
      : m(m_), n(n_), k(k_), row0(corner.row), column0(corner.column) {
    const int row = threadIdx.x / 8, step = threadIdx.x % 8, piece = threadIdx.x % Shape::kPiecesN;
    a = a_ + (kInside ? static_cast<long>(row0 + row) * k : 0) + step;
    b = b_ + static_cast<long>(threadIdx.x / Shape::kPiecesN) * n + (kInside ? column0 + piece * 4 : 0);
    to_a = stage + (step * Shape::kPitchA + row) * 4;
    to_b = stage + Shape::kBytesA + threadIdx.x * 16;
  }
  // Copies round i. !kWhole: the first tiles, `left` steps long. kWhole: a whole tile, or zeros if no tiles are `left`.
  template <bool kWhole>
  __device__ __forceinline__ void round_a(int i, int left) const {
    constexpr int kPer = Shape::kTileM / Shape::kRowsA;
    const int rows = i % kPer * Shape::kRowsA, steps = i / kPer * 8, row = row0 + threadIdx.x / 8 + rows;
    const float* from = a + steps + (kInside ? rows : min(row, m - 1)) * static_cast<long>(k);
    const int step = threadIdx.x % 8 + steps;
    copy_or_zero<4>(to_a + (steps * Shape::kPitchA + rows) * 4, from, kWhole ? left <= 0 : step >= left);
  }
  template <bool kWhole>
  __device__ __forceinline__ void round_b(int i, int left) const {
    const int step = threadIdx.x / Shape::kPiecesN + i * Shape::kRowsB;
    const int column = column0 + threadIdx.x % Shape::kPiecesN * 4;
    const float* from = b + static_cast<long>(i * Shape::kRowsB) * n;
    const uint32_t to = to_b + i * Shape::kThreads * 16;
    const bool absent = kWhole ? left <= 0 : step >= left;
    if constexpr (kWide) {
      copy_or_zero<16>(to, kInside ? from : from + min(column, n - 4), absent);
    } else {
#pragma unroll
      for (int j = 0; j < 4; ++j)
        copy_or_zero<4>(to + 4 * j, kInside ? from + j : from + min(column + j, n - 1), absent);
    }
  }
  __device__ __forceinline__ void next(int steps) {
    a += steps;
    b += static_cast<long>(steps) * n;
  }
  __device__ __forceinline__ void next_stage(int further) {
    to_a += further;
    to_b += further;
  }
};

// Goes to the next stage and returns its distance in bytes.
template <int kStages, int kBytes>
__device__ __forceinline__ int advance(int& stage) {
  const int further = stage + 1 == kStages ? -stage * kBytes : kBytes;
  stage = stage + 1 == kStages ? 0 : stage + 1;
  return further;
}

// Claim: a multiply-add reads three registers. A scheduler has two register banks (odd and even), each with one read a
// cycle. So for one multiply-add a cycle, one operand must come from the reuse cache (it was an operand of the one
// before), the other two from different banks. A 16-byte load fixes a register's bank by its place in the 16 bytes.
// With rows of A side by side in shared memory, row y of a lane has bank y % 2. If its sum has the other bank, 8
// multiply-adds in a row share an element of B without a conflict. The rung before stores 4 sums with one instruction,
// which puts them in the banks of B. Here each sum is stored alone, so ptxas is free to choose. Loads run one step
// ahead, even past the end of a tile, and the loop has no branch.
template <class Shape, bool kWide, bool kInside>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kPerSm)
    gemm_float_fitted(const float* a, const float* b, float* c, int m, int n, int k) {
  constexpr int kStages = Shape::kStages, kBytes = Shape::kBytes, kTileK = Shape::kTileK, kAhead = kStages - 1;
  constexpr int kDown = Shape::kDown, kAcross = Shape::kAcross;
  extern __shared__ __align__(128) unsigned char stages[];
  const uint32_t shared = static_cast<uint32_t>(__cvta_generic_to_shared(stages));
  const TileCorner corner = tile_corner<Shape, kInside>(m, n);
  // As in the rung before: lanes l and l ^ 1 share rows of A, lanes l and l ^ 2 columns of B.
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int tx = (lane & 1) | (lane >> 1 & 2) | (lane >> 2 & 4), ty = (lane >> 1 & 1) | (lane >> 2 & 2);
  const int row = warp / Shape::kWarpsN * 4 * kDown + 4 * ty, column = warp % Shape::kWarpsN * 8 * kAcross + 4 * tx;

  FittedFloatCopy<Shape, kWide, kInside> copy(a, b, m, n, k, corner, shared);
  const int count = (k + kTileK - 1) / kTileK;
#pragma unroll
  for (int s = 0; s < kAhead; ++s) {
    const int steps = s == 0 ? k - (count - 1) * kTileK : kTileK;  // the first tiles take the remainder of k
    if (s == 0)
      start_part<Shape, false>(copy, 0, 1, steps);
    else
      start_part<Shape, true>(copy, 0, 1, count - s);
    copy.next(steps);
    copy.next_stage(kBytes);
    commit_copies();
  }

  uint32_t from_a = shared + row * 4, from_b = shared + Shape::kBytesA + column * 4;
  float sum[kDown][kAcross] = {}, left[2][kDown / 4][4], right[2][kAcross / 4][4];
  const auto load = [&](int to, int step) {
#pragma unroll
    for (int x = 0; x < kAcross / 4; ++x) load_shared(right[to][x], from_b + (step * Shape::kTileN + 32 * x) * 4);
#pragma unroll
    for (int y = 0; y < kDown / 4; ++y) load_shared(left[to][y], from_a + (step * Shape::kPitchA + 16 * y) * 4);
  };
  int read = 0, write = kAhead;
  await_copies<kAhead - 1>();
  __syncthreads();
  load(0, 0);
#pragma unroll 1
  for (int t = 0; t < count; ++t) {
#pragma unroll
    for (int step = 0; step < kTileK; ++step) {
      const bool last = step == kTileK - 1;
      if (last) {
        await_copies<kAhead - 1>();
        __syncthreads();
        const int further = advance<kStages, kBytes>(read);
        from_a += further;
        from_b += further;
      }
      if (step < Shape::kParts) start_part<Shape, true>(copy, step, Shape::kParts, count - t - kAhead);
      if (step == kTileK - 2) {
        copy.next(kTileK);
        commit_copies();
        copy.next_stage(advance<kStages, kBytes>(write));
      }
      load((step + 1) % 2, last ? 0 : step + 1);
      // Down and up in turns: at each turn the row stays the same, so its element is in the reuse cache.
#pragma unroll
      for (int x = 0; x < kAcross; ++x)
#pragma unroll
        for (int i = 0; i < kDown; ++i) {
          const int y = x % 2 ? kDown - 1 - i : i;
          sum[y][x] += left[step % 2][y / 4][y % 4] * right[step % 2][x / 4][x % 4];
        }
    }
  }
  await_copies<0>();
#pragma unroll
  for (int y = 0; y < kDown; ++y) {
    const int to_row = corner.row + row + y / 4 * 16 + y % 4;
    if (kInside ? to_row < corner.first_row : to_row >= m) continue;
#pragma unroll
    for (int x = 0; x < kAcross; ++x) {
      const int to_column = corner.column + column + x / 4 * 32 + x % 4;
      if (kInside ? to_column >= corner.first_column : to_column < n)
        c[static_cast<long>(to_row) * n + to_column] = sum[y][x];
    }
  }
}
