// The fitted rung for doubles: loads from shared memory put fragments into the registers that the tensor cores need,
// and warps wait for tiles, not for each other.
#pragma once

#include "gemm/fitted.cuh"
#include "gemm/tensor_stages.cuh"

// Shape of a block. The product is computed transposed, C^T = B^T A^T: an instruction's 16 rows are columns of C, and
// its 8 columns are rows of C. kDown: groups of 8 rows of C in a warp.
template <int kTileM_, int kTileN_, int kWarpsM_, int kWarpsN_, int kStages_>
struct FittedTensorShape {
  static constexpr int kTileM = kTileM_, kTileN = kTileN_, kTileK = 16, kStages = kStages_, kPerSm = 1;
  static constexpr int kWarpsN = kWarpsN_, kWarps = kWarpsM_ * kWarpsN_, kThreads = 32 * kWarps;
  static constexpr int kDown = kTileM / kWarpsM_ / 8, kAcross = kTileN / kWarpsN_ / 16;
  static constexpr int kBytesA = kTileM * kTileK * 8, kBytes = kBytesA + kTileK * kTileN * 8;
  static constexpr int kShared = kStages * kBytes;
  static constexpr int kPiecesK = kTileK / 2, kPiecesN = kTileN / 2;                // pieces of 16 bytes
  static constexpr int kRowsA = kThreads / kPiecesK, kRowsB = kThreads / kPiecesN;  // rows of a round of copies
  static constexpr int kRoundsA = (kTileM + kRowsA - 1) / kRowsA, kRoundsB = kTileK / kRowsB;
  static_assert(kRoundsB * kRowsB == kTileK && kRowsA % 2 == 0 && kStages >= 4);
  static_assert(kTileM == kDown * kWarpsM_ * 8 && kTileN == kAcross * kWarpsN_ * 16);
};

// A thread's copies: source and destination of its first pieces of the next tiles. Rows and columns beyond the matrix
// are copies of its last ones; their results are not stored.
template <class Shape, bool kWide>
struct FittedTensorCopy {
  const double *a, *b;
  uint32_t to_a, to_b;
  int m, n, k, row0, column0;

  __device__ __forceinline__ FittedTensorCopy(const double* a_, const double* b_, int m_, int n_, int k_, int row0_,
                                              int column0_, uint32_t stage)
      : a(a_), b(b_), m(m_), n(n_), k(k_), row0(row0_), column0(column0_) {
    const int row = threadIdx.x / Shape::kPiecesK, piece_a = threadIdx.x % Shape::kPiecesK;
    const int step = threadIdx.x / Shape::kPiecesN, piece_b = threadIdx.x % Shape::kPiecesN;
    a += piece_a * 2;
    b += static_cast<long>(step) * n;
    to_a = stage + (row * Shape::kPiecesK + TensorSwizzle::a(row, piece_a)) * 16;
    to_b = stage + Shape::kBytesA + (step * Shape::kPiecesN + TensorSwizzle::b(step, piece_b)) * 16;
  }
  // Copies round i. !kWhole: the first tiles, `left` steps long. kWhole: a whole tile, or zeros if no tiles are `left`.
  template <bool kWhole>
  __device__ __forceinline__ void round_a(int i, int left) const {
    const int row = threadIdx.x / Shape::kPiecesK + i * Shape::kRowsA, step = threadIdx.x % Shape::kPiecesK * 2;
    if (Shape::kTileM % Shape::kRowsA != 0 && i == Shape::kRoundsA - 1 && row >= Shape::kTileM) return;
    const double* from = a + min(row0 + row, m - 1) * static_cast<long>(k);
    const uint32_t to = to_a + i * Shape::kRowsA * Shape::kTileK * 8;
    if constexpr (kWide) {
      copy_or_zero<16>(to, from, kWhole ? left <= 0 : step >= left);
    } else {
      copy_or_zero<8>(to, from, kWhole ? left <= 0 : step >= left);
      copy_or_zero<8>(to + 8, from + 1, kWhole ? left <= 0 : step + 1 >= left);
    }
  }
  template <bool kWhole>
  __device__ __forceinline__ void round_b(int i, int left) const {
    const int step = threadIdx.x / Shape::kPiecesN + i * Shape::kRowsB;
    const int column = column0 + threadIdx.x % Shape::kPiecesN * 2;
    const double* from = b + static_cast<long>(i * Shape::kRowsB) * n;
    const uint32_t to = (to_b ^ TensorSwizzle::b(i * Shape::kRowsB, 0) * 16) + i * Shape::kRowsB * Shape::kTileN * 8;
    const bool absent = kWhole ? left <= 0 : step >= left;
    if constexpr (kWide) {
      copy_or_zero<16>(to, from + min(column, n - 2), absent);
    } else {
      copy_or_zero<8>(to, from + min(column, n - 1), absent);
      copy_or_zero<8>(to + 8, from + min(column + 1, n - 1), absent);
    }
  }
  __device__ __forceinline__ void next(int steps, int further) {
    a += steps;
    b += static_cast<long>(steps) * n;
    to_a += further;
    to_b += further;
  }
};

// A lane's operands of a step of 8: columns 2 g and 2 g + 1 of B at steps 2 q and 2 q + 1, and rows g of A at the same
// two steps. Each 16-byte load brings two doubles that the instruction needs in neighbouring registers, so no register
// is moved.
template <class Shape>
struct FittedFragments {
  double b[Shape::kAcross][4], a[Shape::kDown][2];

  __device__ __forceinline__ void load_a(int y, uint32_t from, int step) {
    load_shared(a[y], (from ^ step * 64) + y * 8 * Shape::kTileK * 8);
  }
  __device__ __forceinline__ void load_b(int i, uint32_t from, int step) {
    double v[2];
    load_shared(v, from + (step * 8 + i % 2) * Shape::kTileN * 8 + i / 2 * 128);
    b[i / 2][i % 2 * 2] = v[0];
    b[i / 2][i % 2 * 2 + 1] = v[1];
  }
};

template <class Shape>
using FittedSums = double[Shape::kDown][Shape::kAcross][4];

// A lane holds rows 2 q and 2 q + 1 of 8 and columns 2 g and 2 g + 1 of 16.
template <class Shape, bool kWide>
__device__ __forceinline__ void store_fitted(const FittedSums<Shape>& sum, double* c, int row0, int column0, int m,
                                             int n) {
#pragma unroll
  for (int y = 0; y < 2 * Shape::kDown; ++y) {
    const int row = row0 + y / 2 * 8 + y % 2;
    if (row >= m) return;
#pragma unroll
    for (int x = 0; x < Shape::kAcross; ++x) {
      const double v[2] = {sum[y / 2][x][y % 2], sum[y / 2][x][2 + y % 2]};
      const int column = column0 + 16 * x;
      double* const to = c + static_cast<long>(row) * n + column;
      if constexpr (kWide) {
        if (column < n) *reinterpret_cast<double2*>(to) = make_double2(v[0], v[1]);
      } else {
#pragma unroll
        for (int i = 0; i < 2; ++i)
          if (column + i < n) to[i] = v[i];
      }
    }
  }
}

// A stage of the ring and the parity of the phase in which it is used.
template <int kStages>
struct RingPlace {
  int stage, parity;
  // Goes to the next stage and returns its distance in bytes.
  template <int kBytes>
  __device__ __forceinline__ int advance() {
    const bool around = stage + 1 == kStages;
    const int further = around ? -stage * kBytes : kBytes;
    stage = around ? 0 : stage + 1;
    parity ^= around;
    return further;
  }
};

// Claim: m16n8k8 needs two rows of its first operand in neighbouring registers, but 16 bytes of A are two steps of one
// row. So the rung before moves 11 registers for each instruction. In the transposed product the first operand is B,
// whose columns do lie side by side: no register is moved. A step's fragments are loaded while the ones before are
// multiplied. mbarriers pass stages on: a warp waits until a tile's copies have arrived, and copies overwrite a tile
// that all warps read two tiles ago. At a barrier of the whole block, both warps of a scheduler would wait at the same
// time and leave its tensor core idle.
template <class Shape, bool kWide>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kPerSm)
    gemm_tensor_fitted(const double* a, const double* b, double* c, int m, int n, int k) {
  constexpr int kStages = Shape::kStages, kBytes = Shape::kBytes, kTileK = Shape::kTileK, kAhead = kStages - 2;
  constexpr int kProducts = Shape::kDown * Shape::kAcross, kEach = 4;  // copies are started at every 4th product
  extern __shared__ __align__(128) unsigned char stages[];
  __shared__ __align__(8) unsigned long long barriers[2 * kStages];
  const uint32_t shared = static_cast<uint32_t>(__cvta_generic_to_shared(stages));
  const uint32_t arrived = static_cast<uint32_t>(__cvta_generic_to_shared(barriers)), free = arrived + 8 * kStages;
  const TilePlace place =
      tile_place(blockIdx.x, (m + Shape::kTileM - 1) / Shape::kTileM, (n + Shape::kTileN - 1) / Shape::kTileN);
  const int row0 = place.row * Shape::kTileM, column0 = place.column * Shape::kTileN;
  const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, q = threadIdx.x % 4;
  const int warp_row = warp / Shape::kWarpsN * 8 * Shape::kDown;
  const int warp_column = warp % Shape::kWarpsN * 16 * Shape::kAcross;

  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      init_barrier(arrived + 8 * s, Shape::kThreads);
      init_barrier(free + 8 * s, Shape::kWarps);
    }
  }
  __syncthreads();
  FittedTensorCopy<Shape, kWide> copy(a, b, m, n, k, row0, column0, shared);
  const int count = (k + kTileK - 1) / kTileK;
#pragma unroll
  for (int s = 0; s < kAhead; ++s) {
    const int steps = s == 0 ? k - (count - 1) * kTileK : kTileK;  // the first tiles take the remainder of k
    if (s == 0)
      start_part<Shape, false>(copy, 0, 1, steps);
    else
      start_part<Shape, true>(copy, 0, 1, count - s);
    copy.next(steps, kBytes);
    arrive_after_copies(arrived + 8 * s);
  }

  uint32_t from_a = shared + (warp_row + g) * kTileK * 8 + TensorSwizzle::a(g, q) * 16;
  uint32_t from_b =
      shared + Shape::kBytesA + (2 * q * Shape::kPiecesN + TensorSwizzle::b(2 * q, warp_column / 2 + g)) * 16;
  FittedSums<Shape> sum = {};
  FittedFragments<Shape> fragments[2];
  RingPlace<kStages> read = {0, 0}, write = {kAhead, 1};  // parity 1: the phase before the first counts as ended
  await_phase(arrived, 0);
#pragma unroll
  for (int i = 0; i < 2 * Shape::kAcross; ++i) fragments[0].load_b(i, from_b, 0);
#pragma unroll
  for (int y = 0; y < Shape::kDown; ++y) fragments[0].load_a(y, from_a, 0);
#pragma unroll 1
  for (int t = 0; t < count; ++t) {
    await_phase(free + 8 * write.stage, write.parity);
#pragma unroll
    for (int step = 0; step < 2; ++step) {
      if (step == 1) {  // both steps' fragments are loaded: go to the next tiles
        __syncwarp();
        if (threadIdx.x % 32 == 0) arrive(free + 8 * read.stage);
        const int further = read.template advance<kBytes>();
        if (t + 1 < count) await_phase(arrived + 8 * read.stage, read.parity);
        from_a += further;
        from_b += further;
      }
#pragma unroll
      for (int p = 0; p < kProducts; ++p) {
        const int y = p / Shape::kAcross, x = p % Shape::kAcross;
        tensor_step<8>(sum[y][x], fragments[step].b[x], fragments[step].a[y]);
        if (x == 0) fragments[1 - step].load_a(y, from_a, 1 - step);
#pragma unroll
        for (int i = 0; i < 2 * Shape::kAcross; ++i)
          if (i * (kProducts - 2) / (2 * Shape::kAcross) == p) fragments[1 - step].load_b(i, from_b, 1 - step);
        if (step == 0 && p % kEach == 0)
          start_part<Shape, true>(copy, p / kEach, kProducts / kEach, count - t - kAhead);
      }
      if (step == 0) {
        arrive_after_copies(arrived + 8 * write.stage);
        copy.next(kTileK, write.template advance<kBytes>());
      }
    }
  }
  await_copies<0>();
  store_fitted<Shape, kWide>(sum, c, row0 + warp_row + 2 * q, column0 + warp_column + 2 * g, m, n);
}
