// Parts that the last rungs of both products share: asynchronous copies of tiles to shared memory, with several tiles
// in flight, and the order in which blocks take the tiles of C.
#pragma once

#include <cstdint>

// Copies kBytes (4, 8 or 16) to shared memory, or zeros if not `exists`, without going through a register.
template <int kBytes>
__device__ __forceinline__ void copy_async(uint32_t to, const void* from, bool exists) {
  const int size = exists ? kBytes : 0;
  if constexpr (kBytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(size) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(kBytes), "r"(size)
                 : "memory");
}
__device__ __forceinline__ void commit_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int kLater>  // waits until all but the last kLater groups have arrived
__device__ __forceinline__ void await_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLater) : "memory");
}

// Loads 16 bytes of shared memory.
__device__ __forceinline__ void load_shared(double (&v)[2], uint32_t from) {
  asm volatile("ld.shared.v2.f64 {%0, %1}, [%2];" : "=d"(v[0]), "=d"(v[1]) : "r"(from) : "memory");
}
__device__ __forceinline__ void load_shared(float (&v)[4], uint32_t from) {
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3])
               : "r"(from)
               : "memory");
}

// Blocks that run at the same time take tiles in a square of C, so that they share rows of A and columns of B in L2.
// The order is bands of kBand tiles down, and column by column within a band.
struct TilePlace {
  int row, column;
};
__device__ __forceinline__ TilePlace tile_place(int block, int down, int across) {
  constexpr int kBand = 8;
  const int first = block / (kBand * across) * kBand, high = min(kBand, down - first);
  const int inside = block - first * across;
  return {first + inside % high, inside / high};
}

// The tiles of A (kTileM x kTileK) and B (kTileK x kTileN) of one stage, in pieces of 16 bytes. Swizzle::a and b give
// the place of a piece within its row. kWide: rows of both matrices are aligned to 16 bytes. Otherwise every element is
// copied separately.
template <class T, int kTileM, int kTileN, int kTileK, int kThreads, bool kWide, class Swizzle>
struct Stage {
  static constexpr int kPack = 16 / sizeof(T), kPiecesK = kTileK / kPack, kPiecesN = kTileN / kPack;
  static constexpr int kBytesA = kTileM * kTileK * sizeof(T), kBytes = kBytesA + kTileK * kTileN * sizeof(T);
  static constexpr int kRoundsA = kTileM * kPiecesK / kThreads, kRoundsB = kTileK * kPiecesN / kThreads;
  static_assert(kRoundsA * kThreads == kTileM * kPiecesK && kRoundsB * kThreads == kTileK * kPiecesN);
  static_assert(kThreads % kPiecesK == 0 && kThreads % kPiecesN == 0);

  // Byte offset of piece `piece` of row `row` in a stage.
  static __device__ __forceinline__ int at_a(int row, int piece) {
    return (row * kPiecesK + Swizzle::a(row, piece)) * 16;
  }
  static __device__ __forceinline__ int at_b(int row, int piece) {
    return kBytesA + (row * kPiecesN + Swizzle::b(row, piece)) * 16;
  }

  // Copies a piece of one row, of which `left` elements exist (none if the row does not exist).
  static __device__ __forceinline__ void copy_piece(uint32_t to, const T* from, const T* somewhere, int left) {
    if constexpr (kWide) {
      copy_async<16>(to, left > 0 ? from : somewhere, left > 0);
    } else {
#pragma unroll
      for (int i = 0; i < kPack; ++i)
        copy_async<sizeof(T)>(to + i * sizeof(T), left > i ? from + i : somewhere, left > i);
    }
  }
  // Copies rows from row0 of A and columns from column0 of B, steps from first. The thread index is read anew each
  // time; otherwise values derived from it would occupy registers that the sums need.
  static __device__ __forceinline__ void copy(uint32_t stage, const T* a, const T* b, int row0, int column0, int first,
                                              int m, int n, int k) {
    int thread;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
    {
      const int row = thread / kPiecesK, piece = thread % kPiecesK, step = first + piece * kPack;
      const T* from = a + static_cast<long>(row0 + row) * k + step;
#pragma unroll
      for (int i = 0; i < kRoundsA; ++i, from += kThreads / kPiecesK * static_cast<long>(k)) {
        const int r = row + i * (kThreads / kPiecesK);
        copy_piece(stage + at_a(r, piece), from, a, row0 + r < m ? k - step : 0);
      }
    }
    const int row = thread / kPiecesN, piece = thread % kPiecesN, column = column0 + piece * kPack;
    const T* from = b + static_cast<long>(first + row) * n + column;
#pragma unroll
    for (int i = 0; i < kRoundsB; ++i, from += kThreads / kPiecesN * static_cast<long>(n)) {
      const int r = row + i * (kThreads / kPiecesN);
      copy_piece(stage + at_b(r, piece), from, b, first + r < k ? n - column : 0);
    }
  }
};

// The loop over k. `use(stage)` multiplies a pair of tiles that has arrived, while kStages - 1 later pairs are in
// flight. One barrier a pair makes the tiles visible to all threads and frees the stage that is filled next.
template <int kStages, class Tiles, class T, int kTileK, class Use>
__device__ __forceinline__ void for_tiles(uint32_t shared, const T* a, const T* b, int row0, int column0, int m, int n,
                                          int k, Use use) {
  const int count = (k + kTileK - 1) / kTileK;
#pragma unroll
  for (int s = 0; s < kStages - 1; ++s) {
    if (s < count) Tiles::copy(shared + s * Tiles::kBytes, a, b, row0, column0, s * kTileK, m, n, k);
    commit_copies();
  }
  int read = 0, write = kStages - 1;
  for (int t = 0; t < count; ++t) {
    await_copies<kStages - 2>();
    __syncthreads();
    if (t + kStages - 1 < count)
      Tiles::copy(shared + write * Tiles::kBytes, a, b, row0, column0, (t + kStages - 1) * kTileK, m, n, k);
    commit_copies();
    use(shared + read * Tiles::kBytes);
    read = read + 1 == kStages ? 0 : read + 1;
    write = write + 1 == kStages ? 0 : write + 1;
  }
}
