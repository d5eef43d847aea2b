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
