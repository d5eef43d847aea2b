// Kernels of tensor copies, bulk copies, and rings of copies and products, for asynchronous.cu. Thread 0 of a block
// copies.
#pragma once
#include <cuda.h>

// boxes and the boxes along each dimension are powers of two: a division takes longer than a copy.
struct Plan {
  int dims, bytes, depth, room;
  int shift[5], step[5], first[5];
  long boxes, total;
};

__device__ inline unsigned shared_address(const void* p) {
  return (unsigned)__cvta_generic_to_shared(p);
}
__device__ inline unsigned aligned_room() {
  extern __shared__ __align__(1024) unsigned char room[];
  return (shared_address(room) + 1023) & ~1023u;
}
__device__ inline void barrier_init(unsigned barrier, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}
__device__ inline void barrier_expect(unsigned barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
__device__ inline void barrier_arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ inline void barrier_wait(unsigned barrier, int phase) {
  asm volatile(
      "{\n .reg .pred p;\n again:\n mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n @p bra done;\n bra "
      "again;\n done:\n}" ::"r"(barrier),
      "r"(phase)
      : "memory");
}
__device__ inline void barriers_ready() {
  asm volatile("fence.mbarrier_init.release.cluster;\n fence.proxy.async;" ::: "memory");
}

__device__ inline void place(const Plan& plan, long box, int (&c)[5]) {
  unsigned rest = (unsigned)(box & (plan.boxes - 1));
#pragma unroll
  for (int d = 0; d < 5; ++d) {
    if (d >= plan.dims) break;
    c[d] = plan.first[d] + (int)(rest & ((1u << plan.shift[d]) - 1)) * plan.step[d];
    rest >>= plan.shift[d];
  }
}

template <int D>
__device__ inline void load_box(unsigned to, const CUtensorMap* map, const int (&c)[5], unsigned barrier) {
  if (D == 1)
    asm volatile(
        "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3}], [%2];" ::
            "r"(to),
        "l"(map), "r"(barrier), "r"(c[0])
        : "memory");
  if (D == 2)
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], "
        "[%2];" ::"r"(to),
        "l"(map), "r"(barrier), "r"(c[0]), "r"(c[1])
        : "memory");
  if (D == 3)
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], "
        "[%2];" ::"r"(to),
        "l"(map), "r"(barrier), "r"(c[0]), "r"(c[1]), "r"(c[2])
        : "memory");
  if (D == 4)
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, "
        "%6}], [%2];" ::"r"(to),
        "l"(map), "r"(barrier), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3])
        : "memory");
  if (D == 5)
    asm volatile(
        "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6, "
        "%7}], [%2];" ::"r"(to),
        "l"(map), "r"(barrier), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4])
        : "memory");
}

// Each block copies every gridDim.x-th box; `depth` copies are in flight.
template <int D>
__global__ void __launch_bounds__(32)
    tensor_load(const __grid_constant__ CUtensorMap map, const __grid_constant__ Plan plan) {
  __shared__ unsigned long long barriers[16];
  const unsigned room = aligned_room(), barrier = shared_address(barriers);
  if (threadIdx.x) return;
  for (int s = 0; s < plan.depth; ++s) barrier_init(barrier + 8 * s, 1);
  barriers_ready();
  const long mine = (plan.total - blockIdx.x + gridDim.x - 1) / gridDim.x;
  long waited = 0;
  int stage = 0, oldest = 0, turn = 0, c[5];
  for (long i = 0; i < mine; ++i) {
    if (i >= plan.depth) {
      barrier_wait(barrier + 8 * oldest, turn);
      if (++oldest == plan.depth) oldest = 0, turn ^= 1;
      ++waited;
    }
    place(plan, blockIdx.x + i * gridDim.x, c);
    barrier_expect(barrier + 8 * stage, plan.bytes);
    load_box<D>(room + stage * plan.room, &map, c, barrier + 8 * stage);
    if (++stage == plan.depth) stage = 0;
  }
  for (; waited < mine; ++waited) {
    barrier_wait(barrier + 8 * oldest, turn);
    if (++oldest == plan.depth) oldest = 0, turn ^= 1;
  }
}

// The same from shared memory to the tensor, or added to it.
template <int D, bool ADD>
__global__ void __launch_bounds__(32)
    tensor_store(const __grid_constant__ CUtensorMap map, const __grid_constant__ Plan plan) {
  const unsigned room = aligned_room();
  for (unsigned i = threadIdx.x * 4; i < (unsigned)(plan.depth * plan.room); i += 128)
    asm volatile("st.shared.b32 [%0], %1;" ::"r"(room + i), "r"(0) : "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncwarp();
  if (threadIdx.x) return;
  int stage = 0, c[5];
  for (long box = blockIdx.x; box < plan.total; box += gridDim.x) {
    place(plan, box, c);
    const unsigned from = room + stage * plan.room;
    if (!ADD && D == 1)
      asm volatile("cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%0, {%2}], [%1];" ::"l"(&map), "r"(from),
                   "r"(c[0])
                   : "memory");
    if (!ADD && D == 2)
      asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&map), "r"(from),
                   "r"(c[0]), "r"(c[1])
                   : "memory");
    if (!ADD && D == 3)
      asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(&map),
                   "r"(from), "r"(c[0]), "r"(c[1]), "r"(c[2])
                   : "memory");
    if (!ADD && D == 5)
      asm volatile(
          "cp.async.bulk.tensor.5d.global.shared::cta.bulk_group [%0, {%2, %3, %4, %5, %6}], [%1];" ::"l"(&map),
          "r"(from), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4])
          : "memory");
    if (ADD && D == 1)
      asm volatile(
          "cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group [%0, {%2}], [%1];" ::"l"(&map),
          "r"(from), "r"(c[0])
          : "memory");
    if (ADD && D == 2)
      asm volatile(
          "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&map),
          "r"(from), "r"(c[0]), "r"(c[1])
          : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    if (plan.depth == 1) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    if (plan.depth == 2) asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
    if (plan.depth == 4) asm volatile("cp.async.bulk.wait_group.read 3;" ::: "memory");
    if (++stage == plan.depth) stage = 0;
  }
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

template <int D>
__global__ void __launch_bounds__(32)
    tensor_prefetch(const __grid_constant__ CUtensorMap map, const __grid_constant__ Plan plan) {
  if (threadIdx.x) return;
  int c[5];
  for (long box = blockIdx.x; box < plan.total; box += gridDim.x) {
    place(plan, box, c);
    if (D == 1)
      asm volatile("cp.async.bulk.prefetch.tensor.1d.L2.global [%0, {%1}];" ::"l"(&map), "r"(c[0]) : "memory");
    if (D == 2)
      asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global [%0, {%1, %2}];" ::"l"(&map), "r"(c[0]), "r"(c[1])
                   : "memory");
  }
}

// The blocks of a cluster each copy a box to all of them. A stage is free when all have waited for it.
__global__ void __launch_bounds__(32)
    tensor_multicast(const __grid_constant__ CUtensorMap map, const __grid_constant__ Plan plan) {
  __shared__ unsigned long long barriers[16];
  const unsigned room = aligned_room(), full = shared_address(barriers), empty = full + 64;
  unsigned rank, size;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  if (!threadIdx.x)
    for (int s = 0; s < plan.depth; ++s) barrier_init(full + 8 * s, 1), barrier_init(empty + 8 * s, size);
  barriers_ready();
  asm volatile("barrier.cluster.arrive.release.aligned;\n barrier.cluster.wait.acquire.aligned;" ::: "memory");
  if (!threadIdx.x) {
    const long turns = plan.total / gridDim.x;
    int stage = 0, phase = 0, c[5];
    for (long i = 0; i < turns + plan.depth; ++i) {
      if (i >= plan.depth) {
        barrier_wait(full + 8 * stage, phase ^ 1);
        for (unsigned r = 0; r < size; ++r)
          asm volatile(
              "{\n .reg .b32 remote;\n mapa.shared::cluster.u32 remote, %0, %1;\n "
              "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote];\n}" ::"r"(empty + 8 * stage),
              "r"(r)
              : "memory");
      }
      if (i < turns) {
        if (i >= plan.depth) barrier_wait(empty + 8 * stage, phase ^ 1);
        place(plan, blockIdx.x + i * gridDim.x, c);
        barrier_expect(full + 8 * stage, plan.bytes * size);
        asm volatile(
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
            "[%1, {%3, %4}], [%2], %5;" ::"r"(room + stage * plan.room + rank * plan.bytes),
            "l"(&map), "r"(full + 8 * stage), "r"(c[0]), "r"(c[1]), "h"((unsigned short)((1u << size) - 1))
            : "memory");
      }
      if (++stage == plan.depth) stage = 0, phase ^= 1;
    }
  }
  __syncwarp();
  asm volatile("barrier.cluster.arrive.release.aligned;\n barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

__global__ void __launch_bounds__(32) bulk_load(unsigned char* from, const __grid_constant__ Plan plan) {
  __shared__ unsigned long long barriers[16];
  const unsigned room = aligned_room(), barrier = shared_address(barriers);
  if (threadIdx.x) return;
  for (int s = 0; s < plan.depth; ++s) barrier_init(barrier + 8 * s, 1);
  barriers_ready();
  const long mine = (plan.total - blockIdx.x + gridDim.x - 1) / gridDim.x;
  long waited = 0;
  int stage = 0, oldest = 0, turn = 0;
  for (long i = 0; i < mine; ++i) {
    if (i >= plan.depth) {
      barrier_wait(barrier + 8 * oldest, turn);
      if (++oldest == plan.depth) oldest = 0, turn ^= 1;
      ++waited;
    }
    const long copy = (blockIdx.x + i * gridDim.x) & (plan.boxes - 1);
    barrier_expect(barrier + 8 * stage, plan.bytes);
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     room + stage * plan.room),
                 "l"(from + copy * plan.bytes), "r"(plan.bytes), "r"(barrier + 8 * stage)
                 : "memory");
    if (++stage == plan.depth) stage = 0;
  }
  for (; waited < mine; ++waited) {
    barrier_wait(barrier + 8 * oldest, turn);
    if (++oldest == plan.depth) oldest = 0, turn ^= 1;
  }
}

template <bool ADD>
__global__ void __launch_bounds__(32) bulk_store(unsigned char* to, const __grid_constant__ Plan plan) {
  const unsigned room = aligned_room();
  for (unsigned i = threadIdx.x * 4; i < (unsigned)(plan.depth * plan.room); i += 128)
    asm volatile("st.shared.b32 [%0], %1;" ::"r"(room + i), "r"(0) : "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncwarp();
  if (threadIdx.x) return;
  int stage = 0;
  for (long i = blockIdx.x; i < plan.total; i += gridDim.x) {
    unsigned char* const place = to + (i & (plan.boxes - 1)) * plan.bytes;
    if (ADD)
      asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(place),
                   "r"(room + stage * plan.room), "r"(plan.bytes)
                   : "memory");
    else
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(place),
                   "r"(room + stage * plan.room), "r"(plan.bytes)
                   : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    if (plan.depth == 2) asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
    if (plan.depth == 4) asm volatile("cp.async.bulk.wait_group.read 3;" ::: "memory");
    if (++stage == plan.depth) stage = 0;
  }
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

__global__ void __launch_bounds__(32) bulk_prefetch(unsigned char* from, const __grid_constant__ Plan plan) {
  if (threadIdx.x) return;
  for (long i = blockIdx.x; i < plan.total; i += gridDim.x)
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from + (i & (plan.boxes - 1)) * plan.bytes),
                 "r"(plan.bytes)
                 : "memory");
}

// Each block of a pair copies shared memory to the other one.
__global__ void __cluster_dims__(2) __launch_bounds__(32) bulk_neighbour(int bytes, int copies) {
  __shared__ __align__(128) unsigned char from[4096], to[4096];
  __shared__ unsigned long long barrier;
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  for (int i = threadIdx.x; i < 4096; i += 32) from[i] = to[i] = 0;
  if (!threadIdx.x) barrier_init(shared_address(&barrier), 1), barrier_expect(shared_address(&barrier), bytes * copies);
  barriers_ready();
  asm volatile("barrier.cluster.arrive.release.aligned;\n barrier.cluster.wait.acquire.aligned;" ::: "memory");
  if (!threadIdx.x) {
    unsigned there, its;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared_address(to)), "r"(rank ^ 1));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(its) : "r"(shared_address(&barrier)), "r"(rank ^ 1));
    for (int i = 0; i < copies; ++i)
      asm volatile(
          "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(there),
          "r"(shared_address(from)), "r"(bytes), "r"(its)
          : "memory");
    barrier_wait(shared_address(&barrier), 0);
  }
  __syncwarp();
  asm volatile("barrier.cluster.arrive.release.aligned;\n barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

#define D8(n)                                                                                                 \
  "+f"(d[n]), "+f"(d[n + 1]), "+f"(d[n + 2]), "+f"(d[n + 3]), "+f"(d[n + 4]), "+f"(d[n + 5]), "+f"(d[n + 6]), \
      "+f"(d[n + 7])
__device__ inline void product_m64n128k16(float (&d)[64], unsigned long long a, unsigned long long b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, "
      "%13, %14, %15, %16, %17, "
      "%18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, "
      "%40, %41, %42, %43, %44, "
      "%45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, 1, 1, "
      "1, 0, 0;"
      : D8(0), D8(8), D8(16), D8(24), D8(32), D8(40), D8(48), D8(56)
      : "l"(a), "l"(b));
}
__device__ inline unsigned long long tile_of(unsigned address) {
  return 1ull << 62 | 64ull << 32 | 1ull << 16 | (address & 0x3ffff) >> 4;
}

// A block multiplies 128 rows of A with 128 rows of B. Thread 0 of the last warpgroup copies; two warpgroups multiply.
// MODE 1: only copies, 2: only products, 3: both.
template <int MODE>
__global__ void __launch_bounds__(384)
    ring(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, int rows, int turns, int depth,
         float* sink) {
  __shared__ unsigned long long barriers[16];
  const unsigned room = aligned_room(), full = shared_address(barriers), empty = full + 64;
  if (!threadIdx.x)
    for (int s = 0; s < depth; ++s) barrier_init(full + 8 * s, 1), barrier_init(empty + 8 * s, 8);
  barriers_ready();
  __syncthreads();
  const int group = threadIdx.x / 128;
  int stage = 0, phase = 0;
  if (group == 2) {
    if (threadIdx.x == 256 && MODE != 2)
      for (int i = 0; i < turns; ++i) {
        if (i >= depth) barrier_wait(empty + 8 * stage, phase ^ 1);
        barrier_expect(full + 8 * stage, 32768);
        const int ca[5] = {i * 64, (int)(blockIdx.x % rows) * 128}, cb[5] = {i * 64, (int)(blockIdx.x / rows) * 128};
        load_box<2>(room + stage * 32768, &a, ca, full + 8 * stage);
        load_box<2>(room + stage * 32768 + 16384, &b, cb, full + 8 * stage);
        if (++stage == depth) stage = 0, phase ^= 1;
      }
    return;
  }
  float d[64];
  for (int i = 0; i < 64; ++i) d[i] = 0;
  for (int i = 0; i < turns; ++i) {
    if (MODE != 2) barrier_wait(full + 8 * stage, phase);
    if (MODE != 1) {
      const unsigned at = room + stage * 32768;
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
      for (int k = 0; k < 4; ++k)
        product_m64n128k16(d, tile_of(at + group * 8192 + k * 32), tile_of(at + 16384 + k * 32));
      asm volatile("wgmma.commit_group.sync.aligned;\n wgmma.wait_group.sync.aligned 0;" ::: "memory");
    }
    if (MODE != 2 && threadIdx.x % 32 == 0) barrier_arrive(empty + 8 * stage);
    if (++stage == depth) stage = 0, phase ^= 1;
  }
  float sum = 0;
  for (int i = 0; i < 64; ++i) sum += d[i];
  if (sum != 0) sink[threadIdx.x] = sum;
}
