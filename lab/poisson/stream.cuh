// Jacobi sweeps, the end of the ladder: a warp streams down a strip of columns and keeps all its data in registers.
#pragma once

#include "grid.h"

namespace poisson {

constexpr int kStreamWarps = 4;  // warps of one block
constexpr unsigned kAll = 0xffffffffu;

// The columns of one lane: 16 bytes, so that the lanes of a request are side by side.
template <class T>
constexpr int kPerLane = 16 / sizeof(T);
template <class T, int kCount>
struct alignas(16) Columns {
  T v[kCount];
};

// Columns at each side of a strip that are loaded but not finished: kDepth, rounded up so that vectors stay aligned.
template <class T, int kDepth>
constexpr int kStripHalo = (kDepth + kPerLane<T> - 1) / kPerLane<T>* kPerLane<T>;
template <class T, int kDepth>
constexpr int kStripWidth = 32 * kPerLane<T> - 2 * kStripHalo<T, kDepth>;

// Claim: one load of u, one of the source and one store a point for kDepth sweeps, as vectors, without shared memory or
// barrier. The neighbours above and below are the rows before and after; those beside come by shuffle. Stage k holds
// two rows of u after k sweeps; when row y arrives, stage k finishes row y - k - 1. A strip recomputes its halo: 8 of
// 128 columns (of 64 in double) for up to 4 sweeps, 16 for 8. A chunk of rows recomputes 2 kDepth rows.
template <class T, int kDepth>
__global__ void __launch_bounds__(32 * kStreamWarps)
    jacobi_stream(const T* u, const T* source, T* out, Grid g, int chunk) {
  constexpr int kPer = kPerLane<T>, kHalo = kStripHalo<T, kDepth>;
  using Row = Columns<T, kPer>;
  const int x = blockIdx.x * kStripWidth<T, kDepth> - kHalo + static_cast<int>(threadIdx.x) * kPer;
  const int first = (blockIdx.y * kStreamWarps + threadIdx.y) * chunk, last = min(first + chunk, g.rows);
  if (first >= last) return;  // the whole warp ends
  const bool readable = x + kPer > -1 && x <= g.columns;
  const bool own = threadIdx.x >= kHalo / kPer && threadIdx.x < 32 - kHalo / kPer && x < g.columns;
  bool interior[kPer];
#pragma unroll
  for (int j = 0; j < kPer; ++j) interior[j] = x + j >= 0 && x + j < g.columns;
  const auto load = [&](const T* from, int y) {
    return readable && y >= -1 && y <= g.rows ? *reinterpret_cast<const Row*>(from + g.at(y, x)) : Row{};
  };
  Row above[kDepth] = {}, here[kDepth] = {}, s[kDepth] = {};
  Row next_row = load(u, first - kDepth), next_s = load(source, first - kDepth - 1);
#pragma unroll 2
  for (int y = first - kDepth; y < last + kDepth; ++y) {
    Row row = next_row;
#pragma unroll
    for (int k = kDepth - 1; k > 0; --k) s[k] = s[k - 1];
    s[0] = next_s;
    next_row = load(u, y + 1);
    next_s = load(source, y);
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
      const T from_left = __shfl_up_sync(kAll, here[k].v[kPer - 1], 1);
      const T from_right = __shfl_down_sync(kAll, here[k].v[0], 1);
      const bool row_interior = y - k - 1 >= 0 && y - k - 1 < g.rows;  // for the row that stage k finishes
      Row swept;
#pragma unroll
      for (int j = 0; j < kPer; ++j) {
        const T left = j ? here[k].v[j - 1] : from_left, right = j < kPer - 1 ? here[k].v[j + 1] : from_right;
        const T value = relaxed(above[k].v[j], row.v[j], left, right, s[k].v[j]);
        swept.v[j] = row_interior && interior[j] ? value : here[k].v[j];
      }
      above[k] = here[k];
      here[k] = row;
      row = swept;
    }
    // Columns past the right end are boundary or guard: they are written back unchanged.
    if (own && y - kDepth >= first) *reinterpret_cast<Row*>(out + g.at(y - kDepth, x)) = row;
  }
}

}  // namespace poisson
