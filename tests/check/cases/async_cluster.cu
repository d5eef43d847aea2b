// Clusters: mbarriers and shared memory of other blocks. Each bug stands beside its twin, which is right.
#include "async_ptx.h"
#include "cases.h"

// clang-format off
#define REMOTE_ARRIVE(bar, rank) \
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" \
               ::"r"(of_block(&(bar), rank)) : "memory")
// clang-format on
#define REMOTE_STORE(to, rank, value) \
  asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(of_block(to, rank)), "r"(value) : "memory")
#define REMOTE_LOAD(value, from, rank) \
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(of_block(from, rank)) : "memory")
#define REMOTE_COPY(to, rank, from, bytes, bar)                                                                      \
  asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"( \
                   of_block(to, rank)),                                                                              \
               "r"(shared_address(from)), "r"(bytes), "r"(of_block(&(bar), rank))                                    \
               : "memory")

// Block 1 arrives at an mbarrier of block 0.
template <bool kFence>
__global__ void __cluster_dims__(2) remote_mbarrier(int* out) {
  __shared__ unsigned long long full;
  const unsigned rank = blockIdx.x;
  if (threadIdx.x == 0 && rank == 0) {
    MBARRIER_INIT(full, 32);  //! C283 ERROR mbarrier-init message~fence.mbarrier_init message~cluster_sync()
    if (kFence) INIT_FENCE();
  }
  CLUSTER_ARRIVE(".relaxed");
  CLUSTER_WAIT();
  if (rank == 1)
    REMOTE_ARRIVE(full, 0);  //! C283 ERROR mbarrier-init message~"another block of the cluster"
  else
    MBARRIER_WAIT(full, 0);
  if (rank == 0) out[threadIdx.x] = 1;
}
CASE(C283, "barrier.cluster.arrive.relaxed without fence.mbarrier_init before another block arrives at an mbarrier") {
  int* out = cases::zeros<int>(32);
  remote_mbarrier<false><<<2, 32>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
CASE(C284, "fence.mbarrier_init, barrier.cluster.arrive.relaxed, then another block arrives") {  //! C284 clean
  int* out = cases::zeros<int>(32);
  remote_mbarrier<true><<<2, 32>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

// Each block stores to the other one's shared memory.
template <bool kRelease>
__global__ void __cluster_dims__(2) exchange(int* out) {
  __shared__ int s[32];
  const unsigned rank = blockIdx.x, t = threadIdx.x;
  REMOTE_STORE(&s[t], rank ^ 1, t);  //! C285 ERROR race-shared access=write message~cluster.sync()
  if (kRelease)
    CLUSTER_ARRIVE("");
  else
    CLUSTER_ARRIVE(".relaxed");
  CLUSTER_WAIT();
  out[32 * rank + t] = s[31 - t];  //! C285 ERROR race-shared access=read message~"cute::cluster_sync()"
}
CASE(C285, "barrier.cluster.arrive.relaxed orders no stores to shared memory of another block") {
  int* out = cases::zeros<int>(64);
  exchange<false><<<2, 32>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
CASE(C286, "barrier.cluster.arrive orders stores to shared memory of another block") {  //! C286 clean
  int* out = cases::zeros<int>(64);
  exchange<true><<<2, 32>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

// Block 1 reads the shared memory of block 0.
template <bool kSyncAtEnd>
__global__ void __cluster_dims__(2) read_of_another(int* out) {
  __shared__ int s[32];
  const unsigned t = threadIdx.x;
  s[t] = t;
  CLUSTER_SYNC();
  if (blockIdx.x == 1) {
    int value;
    REMOTE_LOAD(value, &s[31 - t], 0);  //! C287 ERROR cluster-exit message~"cute::cluster_sync()"
    out[t] = value;
  }
  if (kSyncAtEnd) CLUSTER_SYNC();
}
CASE(C287, "a block reads shared memory of another one, which may have left: no cluster.sync() at the end") {
  int* out = cases::zeros<int>(32);
  read_of_another<false><<<2, 32>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
CASE(C288, "a block reads shared memory of another one, cluster.sync() at the end") {  //! C288 clean
  int* out = cases::zeros<int>(32);
  read_of_another<true><<<2, 32>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

// Block 1 arrives at an mbarrier of block 0, which does not wait for it. The flag lets block 0 leave first.
template <bool kSyncAtEnd>
__global__ void __cluster_dims__(2) arrival_at_another(int* out, int* leaves) {
  __shared__ unsigned long long full;
  if (threadIdx.x == 0) {
    MBARRIER_INIT(full, 32);
    INIT_FENCE();
  }
  CLUSTER_SYNC();
  if (blockIdx.x == 0) {
    atomicExch(leaves, 1);
  } else {
    while (atomicAdd(leaves, 0) == 0) {
    }
    REMOTE_ARRIVE(full, 0);  //! C379 ERROR cluster-exit message~"cute::cluster_sync()"
    out[threadIdx.x] = 1;
  }
  if (kSyncAtEnd) CLUSTER_SYNC();
}
CASE(C379, "a block arrives at an mbarrier of another one, which may have left: no cluster.sync() at the end") {
  int* out = cases::zeros<int>(33);
  arrival_at_another<false><<<2, 32>>>(out, out + 32);
  cudaDeviceSynchronize();
  cudaFree(out);
}
CASE(C380, "a block arrives at an mbarrier of another one, cluster.sync() at the end") {  //! C380 clean
  int* out = cases::zeros<int>(33);
  arrival_at_another<true><<<2, 32>>>(out, out + 32);
  cudaDeviceSynchronize();
  cudaFree(out);
}

// Block 0 copies to block 1. The buffer of block 1 is free when it has said so at an mbarrier of block 0.
template <bool kWaitForEmpty>
__device__ __forceinline__ void copy_to_next(unsigned rank, int* out) {
  __shared__ alignas(16) int from[32], to[32];
  __shared__ unsigned long long full, empty;
  const unsigned t = threadIdx.x;
  if (t == 0) {
    MBARRIER_INIT(full, 1);
    MBARRIER_INIT(empty, 32);
    INIT_FENCE();
  }
  from[t] = t;
  PROXY_FENCE("");
  CLUSTER_SYNC();
  int sum = 0;
#pragma unroll 1
  for (int turn = 0; turn < 2; ++turn) {
    if (rank == 0) {
      if (kWaitForEmpty || turn == 0) MBARRIER_WAIT(empty, (turn & 1) ^ 1);
      //! C289 ERROR race-async-copy access="asynchronous write"
      //! C470 ERROR race-async-copy access="asynchronous write"
      if (t == 0) REMOTE_COPY(to, 1, from, 128, full);
      __syncwarp();
    } else {
      if (t == 0) MBARRIER_EXPECT(full, 128);
      MBARRIER_WAIT(full, turn & 1);
      //! C289 ERROR race-async-copy access=read
      //! C470 ERROR race-async-copy access=read
      sum += to[31 - t];
      REMOTE_ARRIVE(empty, 0);
    }
  }
  if (rank == 1) out[t] = sum;
  CLUSTER_SYNC();
}
template <bool kWaitForEmpty>
__global__ void __cluster_dims__(2) copies_between_blocks(int* out) {
  copy_to_next<kWaitForEmpty>(blockIdx.x, out);  //! C289 any
}
CASE(C289, "a block copies to another one's buffer without waiting until that is empty") {
  int* out = cases::zeros<int>(32);
  copies_between_blocks<false><<<2, 32>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
CASE(C290, "a block copies to another one's buffer when that is empty") {  //! C290 clean
  int* out = cases::zeros<int>(32);
  copies_between_blocks<true><<<2, 32>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

// The next rank is the block below, and beside it are blocks of other clusters.
template <bool kWaitForEmpty>
__global__ void __cluster_dims__(1, 2) copies_down(int* out) {
  out += 32 * (blockIdx.y / 2 * gridDim.x + blockIdx.x);
  copy_to_next<kWaitForEmpty>(blockIdx.y % 2, out);  //! C470 any
}
CASE(C470, "in clusters of one column, a block copies to another one's buffer without waiting until that is empty") {
  int* out = cases::zeros<int>(32 * 6);
  copies_down<false><<<dim3(3, 4), 32>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
CASE(C471, "in clusters of one column, a block copies to another one's buffer when that is empty") {  //! C471 clean
  int* out = cases::zeros<int>(32 * 6);
  copies_down<true><<<dim3(3, 4), 32>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
