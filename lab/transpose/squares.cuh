// The last rung of the transpose: tiles with any two sides, taken in a chosen order.
#pragma once

#include "transpose/kernels.cuh"

// Order in which blocks take the tiles: along the input's rows, down its columns, or in squares of 8 x 8 tiles.
enum class Order { rows, columns, squares };

template <Order kOrder>
__device__ __forceinline__ void place_of(int block, int across, int down, int& x, int& y) {
  if constexpr (kOrder == Order::rows) {
    x = block % across;
    y = block / across;
  } else if constexpr (kOrder == Order::columns) {
    x = block / down;
    y = block % down;
  } else {
    constexpr int kSide = 8;
    const int band = block / (kSide * across), first = band * kSide, high = min(kSide, down - first);
    const int inside = block - first * across;
    x = inside / high;
    y = first + inside % high;
  }
}

// Claim: as `registers`, with a tile of kWide x kHigh squares of vectors: reads are pieces of 16 kWide bytes, writes
// pieces of 16 kHigh. Longer pieces stay longer in one page of the memory. The order of tiles decides which pages are
// open at a time: down the columns 4154 GB/s on an H200, along the rows 4035.
template <class T, int kWide, int kHigh, Order kOrder, bool kWhole>
__global__ void __launch_bounds__(kWide* kHigh) transpose_squares(const T* in, T* out, int rows, int columns) {
  constexpr int kCount = Vector<T>::kCount, kTileX = kCount * kWide, kTileY = kCount * kHigh;
  extern __shared__ __align__(16) unsigned char turned_bytes[];
  Vector<T>* const tile =
      reinterpret_cast<Vector<T>*>(turned_bytes);  // [kTileX][kHigh]: a row is a column of the input
  const int tid = threadIdx.x, tx = tid % kWide, ty = tid / kWide;
  int tile_x, tile_y;
  place_of<kOrder>(blockIdx.x, (columns + kTileX - 1) / kTileX, (rows + kTileY - 1) / kTileY, tile_x, tile_y);
  const int x0 = tile_x * kTileX, y0 = tile_y * kTileY;

  Vector<T> value[kCount] = {};
#pragma unroll
  for (int i = 0; i < kCount; ++i)
    load_vector<kWhole>(value[i], in, y0 + kCount * ty + i, x0 + kCount * tx, rows, columns);
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    Vector<T> turned;
#pragma unroll
    for (int j = 0; j < kCount; ++j) turned.v[j] = value[j].v[i];
    tile[(kCount * tx + i) * kHigh + (ty ^ (tx & 7))] = turned;
  }
  __syncthreads();
  const int across = tid % kHigh, down = tid / kHigh;
#pragma unroll
  for (int i = 0; i < kCount; ++i)
    store_vector<kWhole>(tile[(kCount * down + i) * kHigh + (across ^ (down & 7))], out, x0 + kCount * down + i,
                         y0 + kCount * across, columns, rows);
}
