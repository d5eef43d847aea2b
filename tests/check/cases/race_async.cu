// Races with asynchronous copies: cp.async, bulk copies, and what mbarriers order.
#include "cases.h"

// Macros, so that the copy is on the line of the kernel.
#define COPY_ASYNC(to, from) \
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(to)), "l"(from) : "memory")
#define COPY_COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define COPY_WAIT(groups) asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory")

// At the end each thread waits for its copies, so that none goes on when the block's memory is another's.
__global__ void cp_async_no_wait(const int* in, int* out) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  //! C047 ERROR race-async-copy message~"cp.async.wait_group before the barrier"
  COPY_ASYNC(&s[t], &in[t]);
  COPY_COMMIT();
  __syncthreads();
  out[t] = s[63 - t];  //! C047 ERROR race-async-copy access=read
  COPY_WAIT(0);
}
CASE(C047, "cp.async of a tile, barrier, read: no wait_group") {
  int *in = cases::zeros<int>(64), *out = cases::zeros<int>(64);
  cp_async_no_wait<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

__global__ void cp_async_wait_no_barrier(const int* in, int* out) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  COPY_ASYNC(&s[t], &in[t]);  //! C048 ERROR race-async-copy message~"barrier after cp.async.wait_group"
  COPY_COMMIT();
  COPY_WAIT(0);
  out[t] = s[63 - t];  //! C048 ERROR race-async-copy access=read
}
CASE(C048, "wait_group 0 then read of a word that another thread copied") {
  int *in = cases::zeros<int>(64), *out = cases::zeros<int>(64);
  cp_async_wait_no_barrier<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

// The barrier orders the threads, but not the copy that is still under way.
__global__ void cp_async_source_overwritten(int* in, int* out) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  //! C049 ERROR race-async-copy message~"cp.async.wait_group before the barrier"
  COPY_ASYNC(&s[t], &in[t]);
  COPY_COMMIT();
  __syncthreads();
  in[63 - t] = 1;  //! C049 ERROR race-async-copy access=write
  COPY_WAIT(0);
  __syncthreads();
  out[t] = s[63 - t];
}
CASE(C049, "global source of a cp.async is overwritten by the same block before the wait") {
  int *in = cases::zeros<int>(64), *out = cases::zeros<int>(64);
  cp_async_source_overwritten<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

__global__ void bulk_copy_no_proxy_fence(const int* in, int* out) {
  __shared__ alignas(16) int s[64];
  const int t = threadIdx.x;
  s[t] = in[t];  //! C050 ERROR race-proxy access=write message~fence.proxy.async
  __syncthreads();
  if (t == 0) {
    //! C050 ERROR race-proxy
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;" ::"l"(out), "r"(shared_address(s))
                 : "memory");
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
  }
}
CASE(C050, "plain stores to shared, barrier, then cp.async.bulk shared to global without fence.proxy.async") {
  int *in = cases::zeros<int>(64), *out = cases::zeros<int>(64);
  bulk_copy_no_proxy_fence<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

__device__ __forceinline__ void mbarrier_init(unsigned bar, unsigned count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(bar), "r"(count) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ __forceinline__ bool mbarrier_done(unsigned bar, unsigned parity) {
  unsigned done;
  asm volatile(
      "{ .reg .pred p;\n"
      "mbarrier.try_wait.parity.shared.b64 p, [%1], %2;\n"
      "selp.u32 %0, 1, 0, p; }"
      : "=r"(done)
      : "r"(bar), "r"(parity)
      : "memory");
  return done;
}
__device__ __forceinline__ void mbarrier_wait(unsigned bar, unsigned parity) {
  while (!mbarrier_done(bar, parity)) {
  }
}

__device__ void copy_256_bytes(void* to, const void* from, unsigned barrier) {
  const unsigned shared = shared_address(to);
  // clang-format off
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];"  //! C051 any
               ::"r"(shared), "l"(from), "r"(barrier) : "memory");  //! C051 any
  // clang-format on
}

// Phase 0 is the first, so parity 1 is that of the phase before: while the copy is under way the wait is over at once.
// It ends also when the copy was quicker: then it would be for phase 1, which never comes.
__global__ void tma_read_before_phase(const int* in, int* out) {
  __shared__ alignas(16) int s[64];
  __shared__ alignas(8) unsigned long long full;
  const int t = threadIdx.x;
  const unsigned bar = shared_address(&full);
  if (t == 0) mbarrier_init(bar, 1);
  __syncthreads();
  if (t == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" ::"r"(bar) : "memory");
    copy_256_bytes(s, in, bar);  //! C051 ERROR race-async-copy message~"wait for the copy's mbarrier"
  }
  for (int polls = 0; polls < 4 && !mbarrier_done(bar, 1); ++polls) {
  }
  out[t] = s[t];  //! C051 ERROR race-async-copy access=read
  mbarrier_wait(bar, 0);
}
CASE(C051, "bulk copy into shared, reader uses parity of the wrong phase") {
  int *in = cases::zeros<int>(64), *out = cases::zeros<int>(64);
  tma_read_before_phase<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

__global__ void mbarrier_relaxed_arrive(const int* in, int* out) {
  __shared__ int s[32];
  __shared__ alignas(8) unsigned long long full;
  const int lane = threadIdx.x % 32;
  const unsigned bar = shared_address(&full);
  if (threadIdx.x == 0) mbarrier_init(bar, 32);
  __syncthreads();
  if (threadIdx.x < 32) {
    s[lane] = in[lane];  //! C052 ERROR race-shared access=write
    asm volatile("mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%0], 1;" ::"r"(bar) : "memory");
  } else {
    mbarrier_wait(bar, 0);
    out[lane] = s[lane];  //! C052 ERROR race-shared access=read
  }
}
CASE(C052, "producer arrives with .relaxed, consumer waits") {
  int *in = cases::zeros<int>(32), *out = cases::zeros<int>(32);
  mbarrier_relaxed_arrive<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

// The missing barrier is the one at the end of a turn: the copies of the next one write what others still read.
__global__ void cp_async_next_turn(const int* in, int* out) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  int sum = 0;
#pragma unroll 1
  for (int turn = 0; turn < 4; ++turn) {
    COPY_ASYNC(&s[t], &in[64 * turn + t]);  //! C225 ERROR race-async-copy access="asynchronous write"
    COPY_COMMIT();
    COPY_WAIT(0);
    __syncthreads();
    //! C225 ERROR race-async-copy access=read message~"__syncthreads() between line" message~"next iteration"
    sum += s[63 - t];
  }
  out[t] = sum;
}
CASE(C225, "loop of cp.async, wait_group, barrier, read: no barrier before the copies of the next turn") {
  int *in = cases::zeros<int>(256), *out = cases::zeros<int>(64);
  cp_async_next_turn<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

#define BULK_STORE(to, from)                                                                                       \
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;" ::"l"(to), "r"(shared_address(from)) \
               : "memory")

__global__ void bulk_store_source_reused(int* out) {
  __shared__ alignas(128) int s[64];
  const int t = threadIdx.x;
#pragma unroll 1
  for (int turn = 0; turn < 2; ++turn) {
    //! C226 ERROR race-async-copy access=write message~"cp.async.bulk.wait_group.read before the barrier"
    s[t] = t + turn;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
      BULK_STORE(out + 64 * turn, s);  //! C226 ERROR race-async-copy access="asynchronous read"
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
    __syncthreads();
  }
  if (t == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
CASE(C226, "source of a bulk store is written again before cp.async.bulk.wait_group.read") {
  int* out = cases::zeros<int>(128);
  bulk_store_source_reused<<<1, 64>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

__global__ void cp_async_source_of_others(int* in, int* out) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  in[t] = t;                       //! C227 ERROR race-async-copy access=write message~"__syncthreads() between line"
  COPY_ASYNC(&s[t], &in[63 - t]);  //! C227 ERROR race-async-copy access="asynchronous read"
  COPY_COMMIT();
  COPY_WAIT(0);
  out[t] = s[t];
}
CASE(C227, "cp.async of what other threads of the block have written, without a barrier") {
  int *in = cases::zeros<int>(64), *out = cases::zeros<int>(64);
  cp_async_source_of_others<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
