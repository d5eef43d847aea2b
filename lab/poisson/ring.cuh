// Jacobi sweeps, the last rung: as the stream, with sweeps in registers, but rows arrive through shared memory.
#pragma once

#include <cstdint>

#include "gemm/stages.cuh"
#include "poisson/grid.h"

namespace poisson {

// A warp's strip: kPer columns a lane, kDepth sweeps in one pass, rows requested kAhead - 1 before their use.
template <class T_, int kDepth_, int kPer_, int kAhead_, int kWarps_ = 4>
struct Ring {
  using T = T_;
  static constexpr int kDepth = kDepth_, kPer = kPer_, kAhead = kAhead_, kWarps = kWarps_;
  static constexpr int kPack = 16 / sizeof(T), kPieces = kPer / kPack;  // pieces of 16 bytes a lane
  static constexpr int kHalo = (kDepth + kPer - 1) / kPer * kPer, kWidth = 32 * kPer - 2 * kHalo;
  static constexpr int kRowBytes = 32 * kPer * sizeof(T);
  static constexpr int power_of_two(int least) {
    int n = 1;
    while (n < least) n *= 2;
    return n;
  }
  // Rows of u are used once. Rows of the source are used by one stage after the other.
  static constexpr int kRowsU = power_of_two(kAhead), kRowsS = power_of_two(kDepth + kAhead - 1);
  static constexpr int kBytesS = kRowsS * kRowBytes, kBytesU = kRowsU * kRowBytes;
  static constexpr int kShared = kWarps * (kBytesS + kBytesU);
  static_assert(kPer % kPack == 0 && kPieces <= 2 && kAhead >= 2);

  // A lane's two pieces are 32 bytes apart. Every other four lanes swap theirs; otherwise two lanes would share a bank.
  static __device__ __forceinline__ int place(int piece) {
    return (kPieces == 2 ? piece ^ (piece >> 3 & 1) : piece) * 16;
  }
};

template <class R>
struct RingRow {
  typename R::T v[R::kPer];

  __device__ __forceinline__ void load(uint32_t row, int lane) {
#pragma unroll
    for (int p = 0; p < R::kPieces; ++p) {
      typename R::T piece[R::kPack];
      load_shared(piece, row + R::place(lane * R::kPieces + p));
#pragma unroll
      for (int i = 0; i < R::kPack; ++i) v[p * R::kPack + i] = piece[i];
    }
  }
  __device__ __forceinline__ void store(uint32_t row, int lane) const {
#pragma unroll
    for (int p = 0; p < R::kPieces; ++p) {
      const uint32_t to = row + R::place(lane * R::kPieces + p);
      if constexpr (sizeof(typename R::T) == 4)
        asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(to), "f"(v[4 * p]), "f"(v[4 * p + 1]),
                     "f"(v[4 * p + 2]), "f"(v[4 * p + 3])
                     : "memory");
      else
        asm volatile("st.shared.v2.f64 [%0], {%1, %2};" ::"r"(to), "d"(v[2 * p]), "d"(v[2 * p + 1]) : "memory");
    }
  }
};

// A warp's work, and the loading of its rows.
template <class R>
struct RingStrip {
  using T = typename R::T;
  const T *u, *source;
  T* out;
  const Grid& g;
  int left, first, last;  // leftmost column, halo included; rows to finish
  uint32_t ring_s, ring_u;
  int lane;

  // Requests row y of u, and the source row above it, which is used with it.
  __device__ __forceinline__ void ask(int y) const {
    if (y < last + R::kDepth) {
#pragma unroll
      for (int i = 0; i < R::kPieces; ++i) {
        const int piece = lane + 32 * i, x = left + piece * R::kPack;
        const bool readable = x + R::kPack > -1 && x <= g.columns;
        const bool has_u = readable && y >= -1 && y <= g.rows, has_s = readable && y >= 0 && y - 1 <= g.rows;
        copy_async<16>(ring_u + (y & (R::kRowsU - 1)) * R::kRowBytes + R::place(piece), has_u ? u + g.at(y, x) : u,
                       has_u);
        copy_async<16>(ring_s + (y - 1 & (R::kRowsS - 1)) * R::kRowBytes + R::place(piece),
                       has_s ? source + g.at(y - 1, x) : u, has_s);
      }
    }
    commit_copies();
  }

  // kInner: every swept point lies inside the grid.
  template <bool kInner>
  __device__ __forceinline__ void run() const {
    constexpr int kPer = R::kPer, kDepth = R::kDepth;
    const int x = left + lane * kPer;
    const bool own = lane >= R::kHalo / kPer && lane < 32 - R::kHalo / kPer;
    RingRow<R> above[kDepth] = {}, here[kDepth] = {};
    for (int i = 0; i < R::kAhead - 1; ++i) ask(first - kDepth + i);
#pragma unroll 2
    for (int y = first - kDepth; y < last + kDepth; ++y) {
      await_copies<R::kAhead - 2>();
      __syncwarp();
      ask(y + R::kAhead - 1);
      RingRow<R> row, s;
      row.load(ring_u + (y & (R::kRowsU - 1)) * R::kRowBytes, lane);
      const uint32_t place_s = (y - 1 & (R::kRowsS - 1)) * R::kRowBytes;
#pragma unroll
      for (int k = 0; k < kDepth; ++k) {
        s.load(ring_s + (place_s - k * R::kRowBytes & R::kBytesS - 1), lane);
        if (k == 0) {  // once for all stages; the factor 1/4 is exact
#pragma unroll
          for (int j = 0; j < kPer; ++j) s.v[j] *= T(0.25);
          if (kDepth > 1) s.store(ring_s + place_s, lane);
        }
        const T from_left = __shfl_up_sync(0xffffffffu, here[k].v[kPer - 1], 1);
        const T from_right = __shfl_down_sync(0xffffffffu, here[k].v[0], 1);
        RingRow<R> swept;
#pragma unroll
        for (int j = 0; j < kPer; ++j) {
          const T to_left = j ? here[k].v[j - 1] : from_left, to_right = j < kPer - 1 ? here[k].v[j + 1] : from_right;
          const T sum = (above[k].v[j] + row.v[j]) + (to_left + to_right);
          swept.v[j] = fma(sum, T(0.25), s.v[j]);  // the same bits as (sum + source) / 4
          if (!kInner && !g.inside(y - k - 1, x + j)) swept.v[j] = here[k].v[j];
        }
        above[k] = here[k];
        here[k] = row;
        row = swept;
      }
      if (own && y - kDepth >= first) store(y - kDepth, x, row);
    }
  }

  // Columns past the right end are boundary or guard: they are written back unchanged.
  __device__ __forceinline__ void store(int y, int x, const RingRow<R>& row) const {
#pragma unroll
    for (int p = 0; p < R::kPieces; ++p) {
      if (x + p * R::kPack >= g.columns) break;
      T* const to = out + g.at(y, x + p * R::kPack);
      if constexpr (sizeof(T) == 4)
        *reinterpret_cast<float4*>(to) =
            make_float4(row.v[4 * p], row.v[4 * p + 1], row.v[4 * p + 2], row.v[4 * p + 3]);
      else
        *reinterpret_cast<double2*>(to) = make_double2(row.v[2 * p], row.v[2 * p + 1]);
    }
  }
};

// Claim: the stream requests one row ahead and moves kDepth rows of the source through registers each time. Here kAhead
// - 1 rows are in flight by asynchronous copies, and the source stays where it arrived. Inside the grid nothing is
// compared or selected. A quarter of the source is taken once, so a point costs 4 operations a sweep.
template <class R>
__global__ void __launch_bounds__(32 * R::kWarps)
    jacobi_ring(const typename R::T* u, const typename R::T* source, typename R::T* out, Grid g, int chunk) {
  extern __shared__ __align__(128) unsigned char rings[];
  const int warp = threadIdx.x / 32, strips = (g.columns + R::kWidth - 1) / R::kWidth;
  const int index = blockIdx.x * R::kWarps + warp, first = index / strips * chunk;
  if (first >= g.rows) return;  // the whole warp ends
  const uint32_t ring = static_cast<uint32_t>(__cvta_generic_to_shared(rings)) + warp * (R::kBytesS + R::kBytesU);
  const int left = index % strips * R::kWidth - R::kHalo, last = min(first + chunk, g.rows);
  const RingStrip<R> strip = {
      u, source, out, g, left, first, last, ring, ring + R::kBytesS, static_cast<int>(threadIdx.x % 32)};
  const bool inner = left >= 0 && left + 32 * R::kPer <= g.columns && first >= R::kDepth && last + R::kDepth <= g.rows;
  if (inner)
    strip.template run<true>();
  else
    strip.template run<false>();
}

}  // namespace poisson
