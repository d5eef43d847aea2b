// Memory that one thread hands to another by an mbarrier or a flag, as CUTLASS does: which thread must arrive, and what
// the arrival orders. Each bug stands beside its twin, which is right.
#include "async_ptx.h"
#include "cases.h"

// clang-format off
#define RELAXED_ARRIVE(bar) \
  asm volatile("mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%0];" ::"r"(shared_address(&(bar))) : "memory")
#define ASYNC_COPY(to, from) \
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(to)), "l"(from) : "memory")
#define ASYNC_WAIT() asm volatile("cp.async.wait_all;" ::: "memory")
#define NAMED_BARRIER(id, threads) asm volatile("bar.sync %0, %1;" ::"n"(id), "n"(threads) : "memory")
#define ASYNC_STORE(to, value, bar)                                                                               \
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(to), "r"(value), \
               "r"(bar)                                                                                           \
               : "memory")
#define MULTICAST(to, from, bytes, bar, mask)                                                                         \
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2," \
               " [%3], %4;" ::"r"(shared_address(to)),                                                               \
               "l"(from), "r"(bytes), "r"(shared_address(&(bar))), "h"(mask)                                         \
               : "memory")
#define REMOTE_ARRIVE(bar, rank) \
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(of_block(&(bar), rank)) : "memory")
// clang-format on

// All lanes copy to one place, as the copies of scale factors in CUTLASS example 87 do.
template <bool kSame>
__global__ void copies_to_one_place(const int* in, int* out) {
  __shared__ int s;
  //! C395 ERROR race-async-copy access=write bytes=4 count=31
  //! C396 at-most INFO race-same-value
  ASYNC_COPY(&s, in + (kSame ? 0 : threadIdx.x));
  ASYNC_WAIT();
  __syncwarp();
  out[threadIdx.x] = s;
}
CASE(C395, "the lanes of one cp.async copy different data to one place") {
  int *in = cases::zeros<int>(32), *out = cases::zeros<int>(32);
  copies_to_one_place<false><<<1, 32>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
CASE(C396, "the lanes of one cp.async copy the same data to one place") {
  int *in = cases::zeros<int>(32), *out = cases::zeros<int>(32);
  copies_to_one_place<true><<<1, 32>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

// The arrival is relaxed; the fence before it makes it a release.
template <bool kFence>
__global__ void relaxed_arrival(int* out) {
  __shared__ unsigned long long full;
  __shared__ int s[32];
  const unsigned lane = threadIdx.x % 32;
  if (threadIdx.x == 0) MBARRIER_INIT(full, 32);
  __syncthreads();
  if (threadIdx.x < 32) {
    s[lane] = lane;  //! C397 ERROR race-shared access=write message~"read after write"
    if (kFence) __threadfence_block();
    RELAXED_ARRIVE(full);
  } else {
    MBARRIER_WAIT(full, 0);
    out[lane] = s[lane];  //! C397 ERROR race-shared access=read
  }
}
CASE(C397, "mbarrier.arrive.relaxed does not release what its thread has stored") {
  int* out = cases::zeros<int>(32);
  relaxed_arrival<false><<<1, 64>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
CASE(C398, "a fence and then mbarrier.arrive.relaxed release what the thread has stored") {  //! C398 clean
  int* out = cases::zeros<int>(32);
  relaxed_arrival<true><<<1, 64>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

// CUTLASS initialises the mbarrier of tensor memory in this way: behind the last fence.mbarrier_init.
template <bool kFence>
__global__ void __cluster_dims__(2) init_in_a_cluster(int* out) {
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) {
    MBARRIER_INIT(bar, 32);  //! C399 ERROR mbarrier-init message~fence.mbarrier_init message~__syncthreads()
    if (kFence) INIT_FENCE();
  }
  CLUSTER_ARRIVE(".relaxed");
  CLUSTER_WAIT();
  if (threadIdx.x >= 32) MBARRIER_ARRIVE(bar);  //! C399 ERROR mbarrier-init message~cutlass::arch::fence_barrier_init()
  out[64 * blockIdx.x + threadIdx.x] = 1;
}
CASE(C399, "barrier.cluster.arrive.relaxed orders no mbarrier.init for another warp of the block") {
  int* out = cases::zeros<int>(128);
  init_in_a_cluster<false><<<2, 64>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
CASE(C400, "fence.mbarrier_init, barrier.cluster.arrive.relaxed, then another warp arrives") {  //! C400 clean
  int* out = cases::zeros<int>(128);
  init_in_a_cluster<true><<<2, 64>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

// Sums of two blocks, as Barrier::wait_eq_reset() of CUTLASS waits for them: thread 0 takes the flag by atomicCAS().
template <bool kFence>
__global__ void relaxed_flag(int* part, int* flag, int* out) {
  if (blockIdx.x == 0) {
    part[threadIdx.x] = threadIdx.x;  //! C401 ERROR race-global block=0,0,0 access=write message~"read after write"
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(flag, 1);
    }
  } else {
    if (threadIdx.x == 0) {
      while (atomicCAS(flag, 1, 0) != 1) {
      }
      if (kFence) __threadfence();
    }
    __syncthreads();
    out[threadIdx.x] =
        part[threadIdx.x];  //! C401 ERROR race-global access=read message~acquire message~__threadfence()
  }
}
CASE(C401, "thread 0 takes a flag by atomicCAS(), then a barrier, and no fence before the block reads the data") {
  int *part = cases::zeros<int>(64), *flag = cases::zeros<int>(1), *out = cases::zeros<int>(64);
  relaxed_flag<false><<<2, 64>>>(part, flag, out);
  cudaDeviceSynchronize();
  cudaFree(part);
  cudaFree(flag);
  cudaFree(out);
}
CASE(C402, "thread 0 takes a flag by atomicCAS() and executes __threadfence() before the barrier") {  //! C402 clean
  int *part = cases::zeros<int>(64), *flag = cases::zeros<int>(1), *out = cases::zeros<int>(64);
  relaxed_flag<true><<<2, 64>>>(part, flag, out);
  cudaDeviceSynchronize();
  cudaFree(part);
  cudaFree(flag);
  cudaFree(out);
}

// Warp 0 copies, a warpgroup reads. One thread hands the buffer back for all, as consumer_release() of a CUTLASS
// pipeline does: enough for wgmma, not for loads of the other threads.
template <bool kWaitForEachOther>
__global__ void one_hands_back(const int* in, int* out) {
  __shared__ alignas(16) int s[128];
  __shared__ unsigned long long full, empty;
  if (threadIdx.x == 0) {
    MBARRIER_INIT(full, 1);
    MBARRIER_INIT(empty, 1);
  }
  __syncthreads();
  if (threadIdx.x >= 128) {
    if (threadIdx.x == 128) {
#pragma unroll 1
      for (int turn = 0; turn < 2; ++turn) {
        if (turn > 0) MBARRIER_WAIT(empty, 0);
        MBARRIER_EXPECT(full, 512u);
        BULK_LOAD(s, in, 512u, full);  //! C403 ERROR race-async-copy access=write message~"write after read"
      }
    }
  } else {
    int sum = 0;
#pragma unroll 1
    for (unsigned turn = 0; turn < 2; ++turn) {
      MBARRIER_WAIT(full, turn);
      sum += s[threadIdx.x];  //! C403 ERROR race-async-copy access=read message~arrival message~NamedBarrier
      if (kWaitForEachOther) NAMED_BARRIER(1, 128);
      if (threadIdx.x == 0) MBARRIER_ARRIVE(empty);
    }
    out[threadIdx.x] = sum;
  }
}
CASE(C403, "one thread hands a buffer back that other threads of its warpgroup still read") {
  int *in = cases::zeros<int>(128), *out = cases::zeros<int>(128);
  one_hands_back<false><<<1, 160>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
CASE(C404, "one thread hands a buffer back after a barrier of the threads that read it") {  //! C404 clean
  int *in = cases::zeros<int>(128), *out = cases::zeros<int>(128);
  one_hands_back<true><<<1, 160>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

// CUTLASS example 93 hands the result of a cp.async to its block in this way.
template <bool kRelease>
__global__ void __cluster_dims__(2) copy_before_a_cluster_barrier(const int* in, int* out) {
  __shared__ int s;
  if (threadIdx.x == 0) {
    ASYNC_COPY(&s, in);  //! C405 ERROR race-async-copy access=write message~barrier.cluster.arrive.relaxed
    ASYNC_WAIT();
  }
  if (kRelease)
    CLUSTER_ARRIVE("");
  else
    CLUSTER_ARRIVE(".relaxed");
  CLUSTER_WAIT();
  out[64 * blockIdx.x + threadIdx.x] = s;  //! C405 ERROR race-async-copy access=read
}
CASE(C405, "barrier.cluster.arrive.relaxed does not make the result of cp.async known to the block") {
  int *in = cases::zeros<int>(1), *out = cases::zeros<int>(128);
  copy_before_a_cluster_barrier<false><<<2, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
CASE(C406, "barrier.cluster.arrive makes the result of cp.async known to the block") {  //! C406 clean
  int *in = cases::zeros<int>(1), *out = cases::zeros<int>(128);
  copy_before_a_cluster_barrier<true><<<2, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

// Each block stores to the other one by st.async, which completes bytes at an mbarrier there.
template <bool kWait>
__global__ void __cluster_dims__(2) async_stores(int* out) {
  __shared__ int s[32];
  __shared__ unsigned long long full;
  const unsigned other = blockIdx.x ^ 1, lane = threadIdx.x;
  if (lane == 0) {
    MBARRIER_INIT(full, 1);
    INIT_FENCE();
    MBARRIER_EXPECT(full, 128u);
  }
  CLUSTER_SYNC();
  //! C407 ERROR race-async-copy access="asynchronous write" message~"mbarrier of the st.async"
  ASYNC_STORE(of_block(&s[lane], other), lane, of_block(&full, other));
  if (kWait) MBARRIER_WAIT(full, 0);
  out[32 * blockIdx.x + lane] = s[31 - lane];  //! C407 ERROR race-async-copy access=read
  if (!kWait) MBARRIER_WAIT(full, 0);
  CLUSTER_SYNC();
}
CASE(C407, "what another block stores by st.async is read before the wait for its mbarrier") {
  int* out = cases::zeros<int>(64);
  async_stores<false><<<2, 32>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
CASE(C408, "what another block stores by st.async is read behind the wait for its mbarrier") {  //! C408 clean
  int* out = cases::zeros<int>(64);
  async_stores<true><<<2, 32>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

// Each block copies one half to both. All threads of a block wait for the copies and meet at a barrier; then two of
// them hand the buffer back to both blocks.
template <bool kBothBlocks>
__global__ void __cluster_dims__(2) multicast_ring(const int* in, int* out) {
  __shared__ alignas(16) int s[2][64];
  __shared__ unsigned long long full, empty;
  const unsigned rank = blockIdx.x, t = threadIdx.x;
  if (t == 0) {
    MBARRIER_INIT(full, 1);
    MBARRIER_INIT(empty, kBothBlocks ? 2 : 1);
    INIT_FENCE();
  }
  CLUSTER_SYNC();
  int sum = 0;
#pragma unroll 1
  for (unsigned turn = 0; turn < 4; ++turn) {
    if (t == 0) {
      if (turn > 0) MBARRIER_WAIT(empty, turn - 1 & 1);
      MBARRIER_EXPECT(full, 512u);
      //! C409 ERROR race-async-copy access="asynchronous write"
      MULTICAST(s[rank], in + turn * 128 + rank * 64, 256u, full, static_cast<unsigned short>(3));
    }
    MBARRIER_WAIT(full, turn & 1);
    sum += s[0][t] + s[1][t];  //! C409 any
    __syncthreads();
    if (kBothBlocks && t < 2) REMOTE_ARRIVE(empty, t);
    if (!kBothBlocks && t == 0) MBARRIER_ARRIVE(empty);
  }
  out[64 * rank + t] = sum;
  CLUSTER_SYNC();
}
CASE(C409, "a multicast to both blocks of a cluster waits for the block's own reads only") {
  int *in = cases::zeros<int>(512), *out = cases::zeros<int>(128);
  multicast_ring<false><<<2, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
CASE(C410, "a multicast to both blocks of a cluster waits for the reads of both") {  //! C410 clean
  int *in = cases::zeros<int>(512), *out = cases::zeros<int>(128);
  multicast_ring<true><<<2, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
