// Products from registers: every thread computes a small square of C, so that one load from shared memory serves
// several multiply-adds. For float and double; C = A B, row-major, A is m x k, B is k x n, any sizes.
#pragma once

// Claim: with one element a thread, each multiply-add needs 2 loads from shared memory. kSide x kSide elements a thread
// need 2 kSide loads for kSide^2 multiply-adds: kSide times fewer. Global loads drop by kSide too, because the block's
// tile is 16 kSide wide with the same 256 threads.
template <class T, int kSide>
__global__ void __launch_bounds__(256) matmul_registers(const T* a, const T* b, T* c, int m, int n, int k) {
  constexpr int kBlock = 16, kTile = kBlock * kSide;
  constexpr int kPad = sizeof(T) == 8;  // a warp reads two rows of A: 16 doubles apart they share a bank
  __shared__ T tile_a[kTile][kBlock + kPad], tile_b[kBlock][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row0 = blockIdx.y * kTile + ty, column0 = blockIdx.x * kTile + tx;
  T sum[kSide][kSide] = {};
  for (int first = 0; first < k; first += kBlock) {
#pragma unroll
    for (int s = 0; s < kSide; ++s) {
      const int row = row0 + s * kBlock, column = column0 + s * kBlock;
      tile_a[ty + s * kBlock][tx] = row < m && first + tx < k ? a[static_cast<long>(row) * k + first + tx] : T(0);
      tile_b[ty][tx + s * kBlock] = first + ty < k && column < n ? b[static_cast<long>(first + ty) * n + column] : T(0);
    }
    __syncthreads();
#pragma unroll 4
    for (int i = 0; i < kBlock; ++i) {
      T left[kSide], right[kSide];
#pragma unroll
      for (int s = 0; s < kSide; ++s) {
        left[s] = tile_a[ty + s * kBlock][i];
        right[s] = tile_b[i][tx + s * kBlock];
      }
#pragma unroll
      for (int y = 0; y < kSide; ++y)
#pragma unroll
        for (int x = 0; x < kSide; ++x) sum[y][x] += left[y] * right[x];
    }
    __syncthreads();
  }
  // A thread stops at the edge: its later rows and columns lie farther out.
#pragma unroll
  for (int y = 0; y < kSide; ++y) {
    const int row = row0 + y * kBlock;
    if (row >= m) return;
#pragma unroll
    for (int x = 0; x < kSide; ++x) {
      const int column = column0 + x * kBlock;
      if (column >= n) break;
      c[static_cast<long>(row) * n + column] = sum[y][x];
    }
  }
}

// 16 bytes, which a thread moves with one instruction.
template <class T>
struct alignas(16) Pack {
  static constexpr int kCount = 16 / sizeof(T);
  T v[kCount];
};

// Loads the Pack at `at`, of which only `valid` elements exist. kWide: rows are aligned to 16 bytes, so that either all
// exist or none.
template <bool kWide, class T>
__device__ __forceinline__ Pack<T> load_pack(const T* at, int valid) {
  Pack<T> pack = {};
  if (kWide) {
    if (valid > 0) pack = *reinterpret_cast<const Pack<T>*>(at);
  } else {
#pragma unroll
    for (int i = 0; i < Pack<T>::kCount; ++i) {
      if (i >= valid) break;
      pack.v[i] = at[i];
    }
  }
  return pack;
}

template <bool kWide, class T>
__device__ __forceinline__ void store_pack(T* at, const Pack<T>& pack, int valid) {
  if (kWide) {
    if (valid > 0) *reinterpret_cast<Pack<T>*>(at) = pack;
  } else {
#pragma unroll
    for (int i = 0; i < Pack<T>::kCount; ++i) {
      if (i >= valid) break;
      at[i] = pack.v[i];
    }
  }
}

// Claim: 8 x kAcross elements a thread (8 floats or 4 doubles across), with loads hidden. While the block computes on
// one pair of tiles, the next pair comes from global memory into registers, then goes to a second buffer. That takes
// one barrier a phase instead of two. Every load and store moves 16 bytes. A's tile is transposed, with kPack elements
// of padding a row, so that both operands are read along rows without bank conflicts.
template <class T, int kTileM, int kTileN, int kAcross, bool kWide>
__global__ void __launch_bounds__(kTileM* kTileN / (8 * kAcross), sizeof(T) == 4 ? 2 : 1)
    matmul_double_buffer(const T* a, const T* b, T* c, int m, int n, int k) {
  constexpr int kPack = Pack<T>::kCount, kDepth = 8, kDown = 8, kThreads = kTileM * kTileN / (kDown * kAcross);
  constexpr int kPacksA = kTileM * kDepth / kPack / kThreads, kPacksB = kTileN * kDepth / kPack / kThreads;
  static_assert(kPacksA * kThreads * kPack == kTileM * kDepth && kPacksB * kThreads * kPack == kTileN * kDepth);
  __shared__ __align__(16) T tile_a[2][kDepth][kTileM + kPack];
  __shared__ __align__(16) T tile_b[2][kDepth][kTileN];

  const int thread = threadIdx.x, row0 = blockIdx.y * kTileM, column0 = blockIdx.x * kTileN;
  const int tx = thread % (kTileN / kAcross) * kPack, ty = thread / (kTileN / kAcross) * kPack;
  Pack<T> next_a[kPacksA], next_b[kPacksB];

  const auto fetch = [&](int first) {
#pragma unroll
    for (int p = 0; p < kPacksA; ++p) {
      const int index = thread + p * kThreads;
      const int row = row0 + index / (kDepth / kPack), i = first + index % (kDepth / kPack) * kPack;
      next_a[p] = load_pack<kWide>(a + static_cast<long>(row) * k + i, row < m ? k - i : 0);
    }
#pragma unroll
    for (int p = 0; p < kPacksB; ++p) {
      const int index = thread + p * kThreads;
      const int i = first + index / (kTileN / kPack), column = column0 + index % (kTileN / kPack) * kPack;
      next_b[p] = load_pack<kWide>(b + static_cast<long>(i) * n + column, i < k ? n - column : 0);
    }
  };
  const auto keep = [&](int buffer) {
#pragma unroll
    for (int p = 0; p < kPacksA; ++p) {
      const int index = thread + p * kThreads, row = index / (kDepth / kPack), i = index % (kDepth / kPack) * kPack;
#pragma unroll
      for (int v = 0; v < kPack; ++v) tile_a[buffer][i + v][row] = next_a[p].v[v];
    }
#pragma unroll
    for (int p = 0; p < kPacksB; ++p) {
      const int index = thread + p * kThreads, column = index % (kTileN / kPack) * kPack;
      *reinterpret_cast<Pack<T>*>(&tile_b[buffer][index / (kTileN / kPack)][column]) = next_b[p];
    }
  };

  T sum[kDown][kAcross] = {};
  fetch(0);
  keep(0);
  __syncthreads();
  int buffer = 0;
  for (int first = 0; first < k; first += kDepth) {
    const bool more = first + kDepth < k;
    if (more) fetch(first + kDepth);
#pragma unroll
    for (int i = 0; i < kDepth; ++i) {
      Pack<T> left[kDown / kPack], right[kAcross / kPack];
#pragma unroll
      for (int g = 0; g < kDown / kPack; ++g)
        left[g] = *reinterpret_cast<const Pack<T>*>(&tile_a[buffer][i][ty + g * (kTileM * kPack / kDown)]);
#pragma unroll
      for (int g = 0; g < kAcross / kPack; ++g)
        right[g] = *reinterpret_cast<const Pack<T>*>(&tile_b[buffer][i][tx + g * (kTileN * kPack / kAcross)]);
#pragma unroll
      for (int y = 0; y < kDown; ++y)
#pragma unroll
        for (int x = 0; x < kAcross; ++x) sum[y][x] += left[y / kPack].v[y % kPack] * right[x / kPack].v[x % kPack];
    }
    if (more) keep(buffer ^ 1);
    __syncthreads();
    buffer ^= 1;
  }

#pragma unroll
  for (int y = 0; y < kDown; ++y) {
    const int row = row0 + ty + y / kPack * (kTileM * kPack / kDown) + y % kPack;
    if (row >= m) return;
#pragma unroll
    for (int g = 0; g < kAcross / kPack; ++g) {
      const int column = column0 + tx + g * (kTileN * kPack / kAcross);
      Pack<T> out;
#pragma unroll
      for (int v = 0; v < kPack; ++v) out.v[v] = sum[y][g * kPack + v];
      store_pack<kWide>(c + static_cast<long>(row) * n + column, out, n - column);
    }
  }
}
