// Jacobi sweeps, the first part of the ladder: one thread, one thread per point, shared memory, several sweeps a
// launch.
#pragma once

#include <cooperative_groups.h>

#include "grid.h"

namespace poisson {

constexpr int kBlockX = 32, kBlockY = 8;

// Claim: a single thread waits for every load; the GPU's memory is idle nearly all the time.
template <class T>
__global__ void jacobi_one_thread(const T* u, const T* source, T* out, Grid g) {
  for (int y = 0; y < g.rows; ++y)
    for (int x = 0; x < g.columns; ++x) {
      const long i = g.at(y, x);
      out[i] = relaxed(u[i - g.pitch], u[i + g.pitch], u[i - 1], u[i + 1], source[i]);
    }
}

// Claim: a warp takes 32 neighbours of one row. The rows above and below and the source are full sectors; the
// neighbours left and right touch one more sector. Each u is loaded 4 times; the caches must serve 3 of them.
template <class T>
__global__ void jacobi_naive(const T* u, const T* source, T* out, Grid g) {
  const int x = blockIdx.x * kBlockX + threadIdx.x, y = blockIdx.y * kBlockY + threadIdx.y;
  if (!g.inside(y, x)) return;
  const long i = g.at(y, x);
  out[i] = relaxed(u[i - g.pitch], u[i + g.pitch], u[i - 1], u[i + 1], source[i]);
}

// Claim: the block loads its tile and the halo around it once: (8 + 2) (32 + 2) / (8 x 32) = 1.33 loads of u a point
// instead of 4. The caches do nearly the same for the kernel above, so the gain is small.
template <class T>
__global__ void jacobi_shared(const T* u, const T* source, T* out, Grid g) {
  __shared__ T tile[kBlockY + 2][kBlockX + 2];
  const int x0 = blockIdx.x * kBlockX, y0 = blockIdx.y * kBlockY;
  for (int ty = threadIdx.y; ty < kBlockY + 2; ty += kBlockY)
    for (int tx = threadIdx.x; tx < kBlockX + 2; tx += kBlockX)
      if (g.known(y0 + ty - 1, x0 + tx - 1)) tile[ty][tx] = u[g.at(y0 + ty - 1, x0 + tx - 1)];
  __syncthreads();
  const int x = x0 + threadIdx.x, y = y0 + threadIdx.y, tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  if (!g.inside(y, x)) return;
  out[g.at(y, x)] = relaxed(tile[ty - 1][tx], tile[ty + 1][tx], tile[ty][tx - 1], tile[ty][tx + 1], source[g.at(y, x)]);
}

// Claim: kDepth sweeps in one pass over memory. The block loads a halo of kDepth points and computes it too, one ring
// less each sweep: (32 + 2 kDepth)^2 / 32^2 loads a point for kDepth sweeps. The price is the halo's arithmetic.
constexpr int kTile = 32, kTemporalThreads = 512;
template <class T, int kDepth>
__global__ void jacobi_temporal(const T* u, const T* source, T* out, Grid g) {
  constexpr int kSide = kTile + 2 * kDepth;
  constexpr int kPoints = (kSide * kSide + kTemporalThreads - 1) / kTemporalThreads;  // points of one thread
  __shared__ T tile[kSide * kSide];
  T s[kPoints], next[kPoints];
  int good_for[kPoints];  // sweeps for which this point is valid: its distance from the edge of the loaded area
  const int x0 = blockIdx.x * kTile - kDepth, y0 = blockIdx.y * kTile - kDepth;
#pragma unroll
  for (int p = 0; p < kPoints; ++p) {
    const int i = threadIdx.x + p * kTemporalThreads, ty = i / kSide, tx = i % kSide;
    const bool mine = i < kSide * kSide, inside = mine && g.inside(y0 + ty, x0 + tx);
    if (mine && g.known(y0 + ty, x0 + tx)) tile[i] = u[g.at(y0 + ty, x0 + tx)];
    s[p] = inside ? source[g.at(y0 + ty, x0 + tx)] : T(0);
    good_for[p] = inside ? min(min(ty, kSide - 1 - ty), min(tx, kSide - 1 - tx)) : 0;
  }
  for (int sweep = 1; sweep <= kDepth; ++sweep) {
    __syncthreads();
#pragma unroll
    for (int p = 0; p < kPoints; ++p) {
      const int i = threadIdx.x + p * kTemporalThreads;
      if (good_for[p] >= sweep) next[p] = relaxed(tile[i - kSide], tile[i + kSide], tile[i - 1], tile[i + 1], s[p]);
    }
    __syncthreads();
#pragma unroll
    for (int p = 0; p < kPoints; ++p)
      if (good_for[p] >= sweep) tile[threadIdx.x + p * kTemporalThreads] = next[p];
  }
  // Only the block's own tile is valid after all sweeps.
#pragma unroll
  for (int p = 0; p < kPoints; ++p) {
    const int i = threadIdx.x + p * kTemporalThreads;
    if (good_for[p] >= kDepth) out[g.at(y0 + i / kSide, x0 + i % kSide)] = tile[i];
  }
}

// Claim: the loop over the sweeps runs on the GPU: one launch, and a barrier over the whole grid between two sweeps.
// This saves the launches, but each barrier still waits for the slowest block.
template <class T>
__global__ void jacobi_grid_sync(T* u, const T* source, T* out, Grid g, int sweeps) {
  const int across = (g.columns + kBlockX - 1) / kBlockX, tiles = across * ((g.rows + kBlockY - 1) / kBlockY);
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      const int x = tile % across * kBlockX + threadIdx.x, y = tile / across * kBlockY + threadIdx.y;
      const long i = g.at(y, x);
      if (g.inside(y, x)) out[i] = relaxed(u[i - g.pitch], u[i + g.pitch], u[i - 1], u[i + 1], source[i]);
    }
    cooperative_groups::this_grid().sync();
    T* const swap = u;
    u = out;
    out = swap;
  }
}

// Claim: as the document proposes, each block keeps its tile for all sweeps: u in shared memory, the source in
// registers. Only the tile's edge goes through memory between two barriers. All tiles must fit on the GPU at once.
constexpr int kKeptX = 32, kKeptY = 64, kKeptThreadsY = 16;
template <class T>
__global__ void __launch_bounds__(kKeptX* kKeptThreadsY, 2)
    jacobi_grid_resident(T* u, const T* source, T* out, Grid g, int sweeps) {
  constexpr int kPoints = kKeptY / kKeptThreadsY;
  __shared__ T tile[kKeptY + 2][kKeptX + 2];
  const int x0 = blockIdx.x * kKeptX, y0 = blockIdx.y * kKeptY, tx = threadIdx.x + 1, x = x0 + threadIdx.x;
  const auto load = [&](const T* from, int ty, int tx) {
    if (g.known(y0 + ty - 1, x0 + tx - 1)) tile[ty][tx] = from[g.at(y0 + ty - 1, x0 + tx - 1)];
  };
  for (int ty = threadIdx.y; ty < kKeptY + 2; ty += kKeptThreadsY)
    for (int column = threadIdx.x; column < kKeptX + 2; column += kKeptX) load(u, ty, column);
  T s[kPoints], next[kPoints];
#pragma unroll
  for (int p = 0; p < kPoints; ++p) {
    const int y = y0 + threadIdx.y + p * kKeptThreadsY;
    s[p] = g.inside(y, x) ? source[g.at(y, x)] : T(0);
  }
  for (int sweep = 1; sweep <= sweeps; ++sweep) {
    T* const to = sweep % 2 ? out : u;
    __syncthreads();
#pragma unroll
    for (int p = 0; p < kPoints; ++p) {
      const int ty = threadIdx.y + p * kKeptThreadsY + 1;
      next[p] = relaxed(tile[ty - 1][tx], tile[ty + 1][tx], tile[ty][tx - 1], tile[ty][tx + 1], s[p]);
    }
    __syncthreads();
#pragma unroll
    for (int p = 0; p < kPoints; ++p) {
      const int ty = threadIdx.y + p * kKeptThreadsY + 1, y = y0 + ty - 1;
      if (!g.inside(y, x)) continue;
      tile[ty][tx] = next[p];
      const bool edge = ty == 1 || ty == kKeptY || tx == 1 || tx == kKeptX;
      if (edge || sweep == sweeps) to[g.at(y, x)] = next[p];
    }
    if (sweep == sweeps) return;
    cooperative_groups::this_grid().sync();
    if (threadIdx.y == 0) load(to, 0, tx);
    if (threadIdx.y == 1) load(to, kKeptY + 1, tx);
    const int row = threadIdx.x + (threadIdx.y & 1) * kKeptX + 1;  // two warps for each column
    if (threadIdx.y / 2 == 1) load(to, row, 0);
    if (threadIdx.y / 2 == 2) load(to, row, kKeptX + 1);
  }
}

}  // namespace poisson
