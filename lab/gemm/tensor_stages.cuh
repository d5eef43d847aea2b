// The last rung for doubles: tensor cores in the shapes of compute capability 9.0, fed by asynchronous copies.
#pragma once

#include "gemm/stages.cuh"

// D += A B on the tensor cores: A 16 x kStep, B kStep x 8. Lane 4 g + q holds rows g and g + 8 of A and column g of B
// at steps q, q + 4, ..; of D it holds columns 2 q and 2 q + 1 of both rows.
template <int kStep>
__device__ __forceinline__ void tensor_step(double (&d)[4], const double (&a)[kStep / 2],
                                            const double (&b)[kStep / 4]) {
  static_assert(kStep == 4 || kStep == 8 || kStep == 16);
  if constexpr (kStep == 4)
    asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
                 : "d"(a[0]), "d"(a[1]), "d"(b[0]));
  else if constexpr (kStep == 8)
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
  else
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, "
        "{%12, %13, %14, %15}, {%0, %1, %2, %3};"
        : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]), "d"(b[1]),
          "d"(b[2]), "d"(b[3]));
}

// The order of steps in a product is free if A and B agree. A lane takes steps 2 q and 2 q + 1 of every 8: they are
// adjacent in A's rows. For two neighbouring products it takes columns 2 g and 2 g + 1 of B. So all loads are of 16
// bytes. A quarter of a warp (8 lanes, one pass) then reads 4 pieces of 2 rows of A, and 2 pieces of 4 rows of B, 2
// rows apart. These swizzles put them in 8 different places.
struct TensorSwizzle {
  static __device__ __forceinline__ int a(int row, int piece) { return piece ^ (row & 1) << 2; }
  static __device__ __forceinline__ int b(int row, int piece) { return piece ^ (row >> 1 & 3) << 1; }
};

// Shape of a block.
template <int kTileM_, int kTileN_, int kTileK_, int kWarpsM_, int kWarpsN_, int kStages_, int kStep_, int kPerSm_ = 1>
struct TensorShape {
  static constexpr int kTileM = kTileM_, kTileN = kTileN_, kTileK = kTileK_, kWarpsM = kWarpsM_, kWarpsN = kWarpsN_;
  static constexpr int kStages = kStages_, kStep = kStep_, kPerSm = kPerSm_, kThreads = 32 * kWarpsM * kWarpsN;
  static constexpr int kDown = kTileM / kWarpsM / 16, kAcross = kTileN / kWarpsN / 8;  // products of a warp
  static constexpr int kShared = kStages * (kTileM + kTileN) * kTileK * static_cast<int>(sizeof(double));
  static_assert(kTileK >= 16 && kTileK % kStep == 0 && kStep >= 8 && kAcross % 2 == 0);
};

// Address of a lane's first pieces of a stage: TensorSwizzle for row g of A and step 2 q of B. All other pieces of a
// step are whole rows and 128 bytes farther, so that the instruction holds the distance as a constant.
template <class Shape>
struct LanePlace {
  uint32_t a, b;
  static constexpr int kPitchA = Shape::kTileK * 8, kPitchB = Shape::kTileN * 8;
  __device__ __forceinline__ LanePlace(int warp_row, int warp_column) {
    const int g = threadIdx.x % 32 / 4, q = threadIdx.x % 4;
    a = (warp_row + g) * kPitchA + (q ^ (g & 1) << 2) * 16;
    b = Shape::kTileM * kPitchA + 2 * q * kPitchB + warp_column * 8 + (g ^ q << 1) * 16;
  }
};

// Loads a lane's part of one product's row of A, from step `first` on, which is a constant.
template <class Shape>
__device__ __forceinline__ void load_a(double (&a)[Shape::kStep / 2], uint32_t at, int y, int first) {
#pragma unroll
  for (int e = 0; e < Shape::kStep / 8; ++e) {
    const int eight = first / 8 + e;  // 4 pieces: the swizzle flips bit 2 of a piece
    const uint32_t from = (eight % 2 ? at ^ 64 : at) + eight / 2 * 128;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      double v[2];
      load_shared(v, from + (16 * y + 8 * half) * LanePlace<Shape>::kPitchA);
      a[4 * e + half] = v[0];
      a[4 * e + 2 + half] = v[1];
    }
  }
}
// Loads the same of B, for all products of a row.
template <class Shape>
__device__ __forceinline__ void load_b(double (&b)[Shape::kAcross][Shape::kStep / 4], uint32_t at, int first) {
#pragma unroll
  for (int e = 0; e < Shape::kStep / 8; ++e)
#pragma unroll
    for (int x = 0; x < Shape::kAcross; x += 2)
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        double v[2];
        load_shared(v, at + (first + 8 * e + i) * LanePlace<Shape>::kPitchB + x / 2 * 128);
        b[x][2 * e + i] = v[0];
        b[x + 1][2 * e + i] = v[1];
      }
}

template <class Shape>
using TensorSums = double[Shape::kDown][Shape::kAcross][4];

// Multiplies one pair of tiles. A's rows are loaded one product ahead. With short steps B's are loaded one step ahead;
// with long ones there are no registers for that.
template <class Shape>
__device__ __forceinline__ void multiply_tiles(TensorSums<Shape>& sum, uint32_t at_a, uint32_t at_b) {
  constexpr int kSteps = Shape::kTileK / Shape::kStep, kDown = Shape::kDown, kAhead = Shape::kStep == 8 ? 2 : 1;
  double a[2][Shape::kStep / 2], b[kAhead][Shape::kAcross][Shape::kStep / 4];
  load_b<Shape>(b[0], at_b, 0);
  load_a<Shape>(a[0], at_a, 0, 0);
#pragma unroll
  for (int t = 0; t < kSteps * kDown; ++t) {
    const int step = t / kDown, y = t % kDown;
    if (t + 1 < kSteps * kDown) load_a<Shape>(a[(t + 1) % 2], at_a, (t + 1) % kDown, (t + 1) / kDown * Shape::kStep);
    if (kAhead == 2 && y == 0 && step + 1 < kSteps)
      load_b<Shape>(b[(step + 1) % kAhead], at_b, (step + 1) * Shape::kStep);
#pragma unroll
    for (int x = 0; x < Shape::kAcross; ++x) tensor_step<Shape::kStep>(sum[y][x], a[t % 2], b[step % kAhead][x]);
    if (kAhead == 1 && y == kDown - 1 && step + 1 < kSteps) load_b<Shape>(b[0], at_b, (step + 1) * Shape::kStep);
  }
}

// In two neighbouring products a lane has 4 columns in a row: 4 q to 4 q + 3 of 16.
template <class Shape, bool kWide>
__device__ __forceinline__ void store_sums(const TensorSums<Shape>& sum, double* c, int row0, int column0, int m,
                                           int n) {
  const int g = threadIdx.x % 32 / 4, q = threadIdx.x % 4;
#pragma unroll
  for (int y = 0; y < 2 * Shape::kDown; ++y) {
    const int row = row0 + 8 * y + g;
    if (row >= m) return;
#pragma unroll
    for (int x = 0; x < Shape::kAcross; x += 2) {
      const int column = column0 + 8 * x + 4 * q, h = 2 * (y % 2);
      const double v[4] = {sum[y / 2][x][h], sum[y / 2][x + 1][h], sum[y / 2][x][h + 1], sum[y / 2][x + 1][h + 1]};
      double* const to = c + static_cast<long>(row) * n + column;
      if constexpr (kWide) {
        if (column < n) *reinterpret_cast<double2*>(to) = make_double2(v[0], v[1]);
        if (column + 2 < n) *reinterpret_cast<double2*>(to + 2) = make_double2(v[2], v[3]);
      } else {
#pragma unroll
        for (int i = 0; i < 4; ++i)
          if (column + i < n) to[i] = v[i];
      }
    }
  }
}

// Claim: only the shapes of 9.0 reach the peak: they do 4 to 8 times the work of m8n8k4 an instruction. A warp of 64 x
// 32 elements reads 768 bytes of shared memory for a step of 2048 multiply-adds. That is 48 passes for 8 warps in the
// 128 cycles of the tensor cores. Copies without registers read global memory kStages - 1 tiles ahead. A warp's
// fragments are loaded while others are multiplied.
template <class Shape, bool kWide>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kPerSm)
    gemm_tensor_stages(const double* a, const double* b, double* c, int m, int n, int k) {
  using Tiles = Stage<double, Shape::kTileM, Shape::kTileN, Shape::kTileK, Shape::kThreads, kWide, TensorSwizzle>;
  extern __shared__ __align__(128) unsigned char stages[];
  const uint32_t shared = static_cast<uint32_t>(__cvta_generic_to_shared(stages));
  const TilePlace place =
      tile_place(blockIdx.x, (m + Shape::kTileM - 1) / Shape::kTileM, (n + Shape::kTileN - 1) / Shape::kTileN);
  const int row0 = place.row * Shape::kTileM, column0 = place.column * Shape::kTileN, warp = threadIdx.x / 32;
  const int warp_row = warp / Shape::kWarpsN * 16 * Shape::kDown;
  const int warp_column = warp % Shape::kWarpsN * 8 * Shape::kAcross;

  const LanePlace<Shape> lane(warp_row, warp_column);
  TensorSums<Shape> sum = {};
  for_tiles<Shape::kStages, Tiles, double, Shape::kTileK>(shared, a, b, row0, column0, m, n, k, [&](uint32_t stage) {
    multiply_tiles<Shape>(sum, stage + lane.a, stage + lane.b);
  });
  store_sums<Shape, kWide>(sum, c, row0 + warp_row, column0 + warp_column, m, n);
}
