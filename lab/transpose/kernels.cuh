// The rungs of the transpose: out[x][y] = in[y][x]. `rows` and `columns` are those of the input; any size works.
#pragma once

// A block of kTile x kTile/4 threads moves a kTile x kTile tile: each thread moves 4 elements of one column.
#define FOR_TILE_ROWS(row) for (int row = threadIdx.y; row < kTile; row += kTile / 4)

// Claim: reads rows and writes rows: 4 sectors a request each way (8 for double). No kernel that moves every element
// once can do better.
template <class T, int kTile>
__global__ void copy(const T* in, T* out, int rows, int columns) {
  const int x = blockIdx.x * kTile + threadIdx.x;
  FOR_TILE_ROWS(row) {
    const int y = blockIdx.y * kTile + row;
    if (x < columns && y < rows) out[static_cast<long>(y) * columns + x] = in[static_cast<long>(y) * columns + x];
  }
}

// Claim: reads rows, writes columns: a warp's stores touch 32 different rows, 32 sectors a request for 128 bytes.
template <class T, int kTile>
__global__ void transpose_naive(const T* in, T* out, int rows, int columns) {
  const int x = blockIdx.x * kTile + threadIdx.x;
  FOR_TILE_ROWS(row) {
    const int y = blockIdx.y * kTile + row;
    if (x < columns && y < rows) out[static_cast<long>(x) * rows + y] = in[static_cast<long>(y) * columns + x];
  }
}

// Transposes in shared memory (kPitch elements a row), so that both global reads and writes move rows.
template <class T, int kTile, int kPitch>
__device__ void transpose_through_tile(T (&tile)[kTile][kPitch], const T* in, T* out, int rows, int columns) {
  const int x = blockIdx.x * kTile + threadIdx.x, y0 = blockIdx.y * kTile;
  FOR_TILE_ROWS(row) {
    if (x < columns && y0 + row < rows) tile[row][threadIdx.x] = in[static_cast<long>(y0 + row) * columns + x];
  }
  __syncthreads();
  const int out_x = y0 + threadIdx.x, out_y0 = blockIdx.x * kTile;
  FOR_TILE_ROWS(row) {
    if (out_x < rows && out_y0 + row < columns)
      out[static_cast<long>(out_y0 + row) * rows + out_x] = tile[threadIdx.x][row];
  }
}

// Claim: 4 sectors a request on both sides, but all lanes that read a column of the tile hit the same bank.
template <class T, int kTile>
__global__ void transpose_shared(const T* in, T* out, int rows, int columns) {
  __shared__ T tile[kTile][kTile];
  transpose_through_tile(tile, in, out, rows, columns);
}

// Claim: one unused element at the end of each row spreads a column over all banks: no conflicts.
template <class T, int kTile>
__global__ void transpose_padded(const T* in, T* out, int rows, int columns) {
  __shared__ T tile[kTile][kTile + 1];
  transpose_through_tile(tile, in, out, rows, columns);
}

// Claim: element x of row y is stored at x ^ y: this too spreads a column over all banks, and wastes no memory.
template <class T, int kTile>
__global__ void transpose_swizzled(const T* in, T* out, int rows, int columns) {
  __shared__ T tile[kTile][kTile];
  const int x = blockIdx.x * kTile + threadIdx.x, y0 = blockIdx.y * kTile;
  FOR_TILE_ROWS(row) {
    if (x < columns && y0 + row < rows) tile[row][threadIdx.x ^ row] = in[static_cast<long>(y0 + row) * columns + x];
  }
  __syncthreads();
  const int out_x = y0 + threadIdx.x, out_y0 = blockIdx.x * kTile;
  FOR_TILE_ROWS(row) {
    if (out_x < rows && out_y0 + row < columns)
      out[static_cast<long>(out_y0 + row) * rows + out_x] = tile[threadIdx.x][row ^ threadIdx.x];
  }
}

// Claim: the padded kernel with a thread for each element: the same traffic, but four times the address arithmetic for
// each element, and one load in flight instead of four.
template <class T, int kTile>
__global__ void transpose_one_element(const T* in, T* out, int rows, int columns) {
  __shared__ T tile[kTile][kTile + 1];
  const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  if (x < columns && y < rows) tile[threadIdx.y][threadIdx.x] = in[static_cast<long>(y) * columns + x];
  __syncthreads();
  const int out_x = blockIdx.y * kTile + threadIdx.x, out_y = blockIdx.x * kTile + threadIdx.y;
  if (out_x < rows && out_y < columns) out[static_cast<long>(out_y) * rows + out_x] = tile[threadIdx.x][threadIdx.y];
}

// 16 bytes: 4 floats or 2 doubles, moved by one instruction.
template <class T>
struct alignas(16) Vector {
  static constexpr int kCount = 16 / sizeof(T);
  T v[kCount];
};

// Loads the vector at element `x` of row `y`; elements outside stay unchanged. kWhole: rows and columns are whole
// vectors, so one access is enough. Otherwise each element is one access.
template <bool kWhole, class T>
__device__ void load_vector(Vector<T>& value, const T* in, int y, int x, int rows, int columns) {
  if (y >= rows || x >= columns) return;
  const T* at = in + static_cast<long>(y) * columns + x;
  if constexpr (kWhole) {
    value = *reinterpret_cast<const Vector<T>*>(at);
  } else {
    for (int i = 0; i < Vector<T>::kCount; ++i)
      if (x + i < columns) value.v[i] = at[i];
  }
}
template <bool kWhole, class T>
__device__ void store_vector(const Vector<T>& value, T* out, int y, int x, int rows, int columns) {
  if (y >= rows || x >= columns) return;
  T* at = out + static_cast<long>(y) * columns + x;
  if constexpr (kWhole) {
    *reinterpret_cast<Vector<T>*>(at) = value;
  } else {
    for (int i = 0; i < Vector<T>::kCount; ++i)
      if (x + i < columns) at[i] = value.v[i];
  }
}

constexpr int kVectorsPerRow = 16;  // of the tile of the two kernels below: 256 bytes; a block is 16 x 16 threads

// Claim: 16 bytes a lane: a quarter of the global requests for float, half for double. But the tile takes single
// elements, a vector's width apart in neighbouring lanes, so two lanes share each bank in both directions.
template <class T, bool kWhole>
__global__ void transpose_vector(const T* in, T* out, int rows, int columns) {
  constexpr int kCount = Vector<T>::kCount, kSide = kVectorsPerRow * kCount;
  __shared__ T tile[kSide][kSide + 1];
  const int x0 = blockIdx.x * kSide, y0 = blockIdx.y * kSide, at = kCount * threadIdx.x;
  for (int row = threadIdx.y; row < kSide; row += kVectorsPerRow) {
    Vector<T> value = {};
    load_vector<kWhole>(value, in, y0 + row, x0 + at, rows, columns);
    for (int i = 0; i < kCount; ++i) tile[row][at + i] = value.v[i];
  }
  __syncthreads();
  for (int row = threadIdx.y; row < kSide; row += kVectorsPerRow) {
    Vector<T> value;
    for (int i = 0; i < kCount; ++i) value.v[i] = tile[at + i][row];
    store_vector<kWhole>(value, out, x0 + row, y0 + at, columns, rows);
  }
}

// Claim: each thread transposes a square of vectors in registers, so the tile takes whole vectors too (swizzled by
// vectors): no conflicts, a quarter of the shared requests, and all of a thread's loads in flight before the barrier.
template <class T, bool kWhole>
__global__ void transpose_registers(const T* in, T* out, int rows, int columns) {
  constexpr int kCount = Vector<T>::kCount, kSide = kVectorsPerRow * kCount;
  __shared__ Vector<T> tile[kSide][kVectorsPerRow];  // row: column of the input; column: vector of rows of the input
  const int tx = threadIdx.x, ty = threadIdx.y, x0 = blockIdx.x * kSide, y0 = blockIdx.y * kSide;
  Vector<T> value[kCount] = {};
#pragma unroll
  for (int i = 0; i < kCount; ++i)
    load_vector<kWhole>(value[i], in, y0 + kCount * ty + i, x0 + kCount * tx, rows, columns);
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    Vector<T> turned;
#pragma unroll
    for (int j = 0; j < kCount; ++j) turned.v[j] = value[j].v[i];
    tile[kCount * tx + i][ty ^ (tx & 7)] = turned;  // 8 vectors are one row of banks
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kCount; ++i)
    store_vector<kWhole>(tile[kCount * ty + i][tx ^ (ty & 7)], out, x0 + kCount * ty + i, y0 + kCount * tx, columns,
                         rows);
}
