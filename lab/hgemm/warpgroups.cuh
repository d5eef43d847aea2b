// The rungs for compute capability 9.0: warpgroups multiply tiles that tensor copies bring.
#pragma once

#include "hgemm/hopper.cuh"

// One block computes 128 x 256 elements with two warpgroups.
struct WarpgroupTiles {
  static constexpr int kTileM = 128, kTileN = 256, kTileK = 64, kBoxColumns = 64;
  static constexpr int kConsumers = 2, kRowsEach = kTileM / kConsumers;
  static constexpr int kBytesA = kTileM * kTileK * 2, kBoxB = kTileK * kBoxColumns * 2;
  static constexpr int kBytesB = kBoxB * (kTileN / kBoxColumns), kBytes = kBytesA + kBytesB;
  static constexpr int kBytesC = kTileM * kTileN * 2, kBoxC = kRowsEach * kBoxColumns * 2;
  static constexpr int kAlign = 1024;  // of a swizzled box
};

// Multiplies a pair of tiles: four steps of 16.
template <class T>
__device__ __forceinline__ void multiply_stage(WarpgroupSums& sum, uint32_t stage, int group, bool add) {
  using Tiles = WarpgroupTiles;
  constexpr int kEightRows = 8 * 128;
  const unsigned long a = swizzled_matrix(stage + group * Tiles::kRowsEach * 128, 16, kEightRows);
  const unsigned long b = swizzled_matrix(stage + Tiles::kBytesA, Tiles::kBoxB, kEightRows);
  begin_products();
#pragma unroll
  for (int step = 0; step < Tiles::kTileK / 16; ++step)  // 32 bytes farther in A's rows, 16 rows farther in B
    warpgroup_product<T>(sum, a + step * (32 / 16), b + step * (16 * 128 / 16), add || step > 0);
  end_products();
}

// Stores the sums from registers: each lane writes pairs of neighbouring elements.
template <class T>
__device__ __forceinline__ void store_pairs(const WarpgroupSums& sum, T* c, int row0, int column0, int m, int n) {
  const int thread = threadIdx.x % 128, row = row0 + thread / 32 * 16 + thread % 32 / 4;
  const int column = column0 + thread % 4 * 2;
#pragma unroll
  for (int x = 0; x < 32; ++x)
#pragma unroll
    for (int h = 0; h < 2; ++h)
      if (row + 8 * h < m && column + 8 * x < n)
        *reinterpret_cast<uint32_t*>(c + static_cast<long>(row + 8 * h) * n + column + 8 * x) =
            pack<T>(sum[4 * x + 2 * h], sum[4 * x + 2 * h + 1]);
}

// Puts the sums of a warpgroup into boxes of 64 x 64 elements in shared memory, swizzled as the tensor copy expects:
// piece p (16 bytes) of row r lies at p ^ r % 8. A lane gives the address of one row of 8 elements.
template <class T>
__device__ __forceinline__ void stage_sums(const WarpgroupSums& sum, uint32_t to) {
  const int warp = threadIdx.x % 128 / 32, lane = threadIdx.x % 32, row = warp * 16 + lane % 16;
#pragma unroll
  for (int x = 0; x < 32; x += 2) {
    const int piece = x % 8 + lane / 16;
    store_matrices(to + x / 8 * WarpgroupTiles::kBoxC + row * 128 + (piece ^ row % 8) * 16,
                   pack<T>(sum[4 * x], sum[4 * x + 1]), pack<T>(sum[4 * x + 2], sum[4 * x + 3]),
                   pack<T>(sum[4 * x + 4], sum[4 * x + 5]), pack<T>(sum[4 * x + 6], sum[4 * x + 7]));
  }
}

__device__ __forceinline__ uint32_t aligned_shared(unsigned char* memory) {
  const uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(memory));
  return (address + WarpgroupTiles::kAlign - 1) / WarpgroupTiles::kAlign * WarpgroupTiles::kAlign;
}

// Claim: one thread copies whole tiles, with addresses made by hardware, and one instruction of a warpgroup does 262144
// multiply-adds from shared memory. But all wait for each pair of tiles.
template <class T>
__global__ void __launch_bounds__(256)
    hgemm_one_stage(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, T* c, int m,
                    int n, int k) {
  using Tiles = WarpgroupTiles;
  extern __shared__ unsigned char memory[];
  __shared__ __align__(8) unsigned long long full_barrier;
  const uint32_t stage = aligned_shared(memory), full = static_cast<uint32_t>(__cvta_generic_to_shared(&full_barrier));
  const TilePlace place =
      tile_place(blockIdx.x, (m + Tiles::kTileM - 1) / Tiles::kTileM, (n + Tiles::kTileN - 1) / Tiles::kTileN);
  const int row0 = place.row * Tiles::kTileM, column0 = place.column * Tiles::kTileN, group = threadIdx.x / 128;
  if (threadIdx.x == 0) {
    init_barrier(full, 1);
    show_barriers();
  }
  __syncthreads();
  WarpgroupSums sum;
  const int count = (k + Tiles::kTileK - 1) / Tiles::kTileK;
  for (int t = 0; t < count; ++t) {
    if (threadIdx.x == 0) {
      expect_bytes(full, Tiles::kBytes);
      copy_box(stage, &map_a, t * Tiles::kTileK, row0, full);
      for (int x = 0; x < Tiles::kTileN / Tiles::kBoxColumns; ++x)
        copy_box(stage + Tiles::kBytesA + x * Tiles::kBoxB, &map_b, column0 + x * Tiles::kBoxColumns, t * Tiles::kTileK,
                 full);
    }
    await_phase(full, t % 2);
    multiply_stage<T>(sum, stage, group, t > 0);
    await_products(sum);
    __syncthreads();  // the next copies overwrite the tiles
  }
  store_pairs(sum, c, row0 + group * Tiles::kRowsEach, column0, m, n);
}

// Shape of the rungs with a ring of stages.
template <int kStages_, int kCluster_, bool kPersistent_>
struct Ring {
  using Tiles = WarpgroupTiles;
  static constexpr int kStages = kStages_, kCluster = kCluster_, kThreads = 128 * (Tiles::kConsumers + 1);
  static constexpr bool kPersistent = kPersistent_;
  static constexpr int kShared = kStages * Tiles::kBytes + (kPersistent ? Tiles::kBytesC : 0) + Tiles::kAlign;
};

// A stage of the ring and the parity of the phase in which it is used.
template <int kStages>
struct StagePlace {
  int stage, parity;
  __device__ __forceinline__ void advance() {
    stage = stage + 1 == kStages ? 0 : stage + 1;
    parity ^= stage == 0;
  }
};

// The tiles that a block takes one after another. A cluster takes tiles below each other.
template <class Shape>
struct TileWalk {
  int block, blocks, down, across;
  __device__ __forceinline__ TileWalk(int m, int n)
      : block(blockIdx.x / Shape::kCluster),
        blocks(gridDim.x / Shape::kCluster),
        down((m + Shape::kCluster * WarpgroupTiles::kTileM - 1) / (Shape::kCluster * WarpgroupTiles::kTileM)),
        across((n + WarpgroupTiles::kTileN - 1) / WarpgroupTiles::kTileN) {}
  template <class Take>
  __device__ __forceinline__ void each(int rank, Take take) const {
    for (int i = block; i < down * across; i += blocks) {
      const TilePlace place = tile_place(i, down, across);
      take((place.row * Shape::kCluster + rank) * WarpgroupTiles::kTileM, place.column * WarpgroupTiles::kTileN);
    }
  }
};

// Claim (ring): a warp of its own starts the copies and hands stages to the warpgroups that multiply; mbarriers say
// when a stage is full, and when it is empty again. Claim (clusters): two blocks below each other need the same tile of
// B. Each copies half of it to both. Claim (persistent): as many blocks as multiprocessors take tile after tile: the
// copies of the next tile run while the sums of this one are stored, by tensor copies as well.
template <class T, class Shape>
__device__ __forceinline__ void produce(const CUtensorMap& map_a, const CUtensorMap& map_b, uint32_t stages,
                                        uint32_t full, uint32_t empty, int rank, int m, int n, int k) {
  using Tiles = WarpgroupTiles;
  constexpr int kBoxes = Tiles::kTileN / Tiles::kBoxColumns / Shape::kCluster;
  StagePlace<Shape::kStages> place = {0, 1};  // parity 1: the phase before the first counts as ended
  TileWalk<Shape>(m, n).each(rank, [&](int row0, int column0) {
    for (int first = 0; first < k; first += Tiles::kTileK) {
      const uint32_t stage = stages + place.stage * Tiles::kBytes, arrived = full + 8 * place.stage;
      await_phase(empty + 8 * place.stage, place.parity);
      expect_bytes(arrived, Tiles::kBytes);
      copy_box(stage, &map_a, first, row0, arrived);
#pragma unroll
      for (int i = 0; i < kBoxes; ++i) {
        const int x = rank * kBoxes + i;
        const uint32_t to = stage + Tiles::kBytesA + x * Tiles::kBoxB;
        if constexpr (Shape::kCluster == 1)
          copy_box(to, &map_b, column0 + x * Tiles::kBoxColumns, first, arrived);
        else
          copy_box_to_all(to, &map_b, column0 + x * Tiles::kBoxColumns, first, arrived, (1 << Shape::kCluster) - 1);
      }
      place.advance();
    }
  });
}

template <class T, class Shape>
__device__ __forceinline__ void consume(const CUtensorMap& map_c, T* c, uint32_t stages, uint32_t full, uint32_t empty,
                                        int rank, int m, int n, int k) {
  using Tiles = WarpgroupTiles;
  const int group = threadIdx.x / 128, thread = threadIdx.x % 128, count = (k + Tiles::kTileK - 1) / Tiles::kTileK;
  StagePlace<Shape::kStages> place = {0, 0};
  const auto release = [&](int stage) {
    if (thread < Shape::kCluster) arrive_at(empty + 8 * stage, thread);
  };
  TileWalk<Shape>(m, n).each(rank, [&](int row0, int column0) {
    WarpgroupSums sum;
    int before = 0;
#pragma unroll 1
    for (int t = 0; t < count; ++t) {
      await_phase(full + 8 * place.stage, place.parity);
      multiply_stage<T>(sum, stages + place.stage * Tiles::kBytes, group, t > 0);
      await_products_before();  // those of the stage before are done
      if (t > 0) release(before);
      before = place.stage;
      place.advance();
    }
    await_products(sum);
    release(before);
    if constexpr (!Shape::kPersistent) {
      store_pairs(sum, c, row0 + group * Tiles::kRowsEach, column0, m, n);
    } else {
      const uint32_t from = stages + Shape::kStages * Tiles::kBytes + group * (Tiles::kBytesC / Tiles::kConsumers);
      if (thread == 0) await_stores_read();
      asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory");
      stage_sums<T>(sum, from);
      show_writes_to_copies();
      asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory");
      if (thread == 0) {
        for (int x = 0; x < Tiles::kTileN / Tiles::kBoxColumns; ++x)
          store_box(&map_c, column0 + x * Tiles::kBoxColumns, row0 + group * Tiles::kRowsEach, from + x * Tiles::kBoxC);
        commit_stores();
      }
    }
  });
  if (Shape::kPersistent && thread == 0) await_stores_read();  // shared memory must outlive them
}

template <class T, class Shape>
__global__ void __launch_bounds__(Shape::kThreads, 1)
    hgemm_ring(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
               const __grid_constant__ CUtensorMap map_c, T* c, int m, int n, int k) {
  using Tiles = WarpgroupTiles;
  extern __shared__ unsigned char memory[];
  __shared__ __align__(8) unsigned long long barriers[2 * Shape::kStages];
  const uint32_t stages = aligned_shared(memory), full = static_cast<uint32_t>(__cvta_generic_to_shared(barriers));
  const uint32_t empty = full + 8 * Shape::kStages;
  const int rank = Shape::kCluster == 1 ? 0 : block_in_cluster();
  if (threadIdx.x == 0) {
    for (int s = 0; s < Shape::kStages; ++s) {
      init_barrier(full + 8 * s, 1);
      init_barrier(empty + 8 * s, Tiles::kConsumers * Shape::kCluster);
    }
    show_barriers();
  }
  if constexpr (Shape::kCluster == 1)
    __syncthreads();
  else
    sync_cluster();

  if (threadIdx.x / 128 == Tiles::kConsumers) {
    give_registers<40>();
    if (threadIdx.x % 128 == 0) produce<T, Shape>(map_a, map_b, stages, full, empty, rank, m, n, k);
  } else {
    take_registers<232>();
    consume<T, Shape>(map_c, c, stages, full, empty, rank, m, n, k);
  }
  if constexpr (Shape::kCluster > 1) sync_cluster();  // the other block may still arrive at this one's barriers
}
