// Barriers, warp synchronisations and shuffles with missing or surplus participants.
#include <cooperative_groups.h>

#include "cases.h"

namespace cg = cooperative_groups;

__global__ void barrier_in_thread_condition(int* out) {
  const int t = threadIdx.x;
  if (t < 40) __syncthreads();  //! C090 ERROR barrier-divergent-warp thread=32,0,0 block=0,0,0
  out[t] = t;
  __syncthreads();  //! C090 any
}
CASE(C090, "if (t<40) __syncthreads(); others go on to a later barrier") {
  int* out = cases::zeros<int>(64);
  barrier_in_thread_condition<<<1, 64>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

__global__ void barrier_in_loop_uneven(const int* turns, int* out) {
  const int t = threadIdx.x;
  int sum = 0;
#pragma unroll 1
  for (int i = 0; i < turns[t]; ++i) {
    sum += i;
    __syncthreads();  //! C091 ERROR barrier-divergent-warp|barrier-divergent-block block=0,0,0
  }
  out[t] = sum;
  __syncthreads();  //! C091 any
}
//! C091 hangs_on_gpu
CASE(C091, "trip count differs by thread, barrier inside, rest waits at a later one") {
  int host[64], *turns = cases::zeros<int>(64), *out = cases::zeros<int>(64);
  for (int t = 0; t < 64; ++t) host[t] = t < 40 ? 2 : 1;
  cudaMemcpy(turns, host, sizeof host, cudaMemcpyHostToDevice);
  barrier_in_loop_uneven<<<1, 64>>>(turns, out);
  cudaDeviceSynchronize();
  cudaFree(turns);
  cudaFree(out);
}

__global__ void named_barrier_bad_count(int* out, int count) {
  asm volatile("bar.sync 1, %0;" ::"r"(count) : "memory");  //! C092 ERROR barrier-count block=0,0,0 message~48
  out[threadIdx.x] = 1;
}
//! C092 may ERROR barrier-deadlock
CASE(C092, "bar.sync 1, 48") {
  int* out = cases::zeros<int>(64);
  named_barrier_bad_count<<<1, 64>>>(out, 48);
  cudaDeviceSynchronize();
  cudaFree(out);
}

__global__ void named_barrier_two_counts(int* out) {
  if (threadIdx.x < 32) {
    asm volatile("bar.sync 1, 64;" ::: "memory");  //! C093 ERROR barrier-count message~64 message~96
  } else {
    asm volatile("bar.sync 1, 96;" ::: "memory");  //! C093 ERROR barrier-count
  }
  out[threadIdx.x] = 1;
}
//! C093 may ERROR barrier-deadlock
CASE(C093, "warp 0 says bar.sync 1,64; warp 1 says bar.sync 1,96") {
  int* out = cases::zeros<int>(64);
  named_barrier_two_counts<<<1, 64>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

__global__ void barrier_deadlock(int* out) {
  if (threadIdx.x < 32) asm volatile("bar.sync 1, 64;" ::: "memory");  //! C094 ERROR barrier-deadlock block=0,0,0
  out[threadIdx.x] = 1;
}
//! C094 hangs_on_gpu
CASE(C094, "warp 0 at barrier 1 count 64, no other warp") {
  int* out = cases::zeros<int>(64);
  barrier_deadlock<<<1, 64>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

__global__ void count_of_warps_that_left(int* out, int n) {
  if (threadIdx.x >= n) return;
  asm volatile("bar.sync 1, 64;" ::: "memory");  //! C221 ERROR barrier-deadlock block=0,0,0 message~exited
  out[threadIdx.x] = 1;
}
//! C221 hangs_on_gpu
CASE(C221, "bar.sync 1, 64 after the other warp of the two has left") {
  int* out = cases::zeros<int>(64);
  count_of_warps_that_left<<<1, 64>>>(out, 32);
  cudaDeviceSynchronize();
  cudaFree(out);
}

__global__ void syncwarp_caller_not_named(int* out) {
  const int t = threadIdx.x;
  if (t <= 16) {
    out[t] = t;
    __syncwarp(0xffff);  //! C095 ERROR syncwarp-mask thread=16,0,0 block=0,0,0
    out[t + 32] = t;
  }
}
CASE(C095, "lane 16 calls __syncwarp(0xffff)") {
  int* out = cases::zeros<int>(64);
  syncwarp_caller_not_named<<<1, 32>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

// The lanes of the else-part wait for the block, and the others for them.
__global__ void syncwarp_lane_never_comes(int* out) {
  const int t = threadIdx.x;
  if (t < 20) {
    out[t] = 1;
    __syncwarp(~0u);  //! C096 ERROR syncwarp-mask block=0,0,0
  } else {
    out[t] = 2;
  }
  __syncthreads();  //! C096 any
  out[t] += 1;
}
//! C096 may ERROR barrier-deadlock
//! C096 hangs_on_gpu
CASE(C096, "__syncwarp(~0) in the then-part; the else-part lanes never call it") {
  int* out = cases::zeros<int>(32);
  syncwarp_lane_never_comes<<<1, 32>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

__global__ void shuffle_from_absent_lane(int* out) {
  int x = threadIdx.x;
  if (x < 16) x = __shfl_sync(~0u, x, 20);  //! C097 ERROR shuffle-inactive-lane thread=0,0,0 block=0,0,0
  if (x > 4)                                //! C097 any
    out[threadIdx.x] = x;
}
//! C097 may ERROR syncwarp-mask
CASE(C097, "if (lane<16) x=__shfl_sync(~0,x,20), result stored and used") {
  int* out = cases::zeros<int>(32);
  shuffle_from_absent_lane<<<1, 32>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

__global__ void shuffle_from_exited_lane(int* out, int n) {
  int x = threadIdx.x;
  if (x >= n) return;
  x += __shfl_down_sync(~0u, x, 16);  //! C223 ERROR shuffle-inactive-lane thread=0,0,0 block=0,0,0 object~"lane 0 of"
  if (threadIdx.x == 0) *out = x;     //! C223 any
}
CASE(C223, "__shfl_down_sync(~0, x, 16) after lanes 10 to 31 returned; lane 0 alone stores the sum") {
  int* out = cases::zeros<int>(1);
  shuffle_from_exited_lane<<<1, 32>>>(out, 10);
  cudaDeviceSynchronize();
  cudaFree(out);
}

__device__ __forceinline__ bool phase_done(unsigned bar, unsigned parity) {
  unsigned done;
  asm volatile(
      "{ .reg .pred p;\n"
      "mbarrier.test_wait.parity.shared.b64 p, [%1], %2;\n"
      "selp.u32 %0, 1, 0, p; }"
      : "=r"(done)
      : "r"(bar), "r"(parity)
      : "memory");
  return done;
}
__global__ void mbarrier_not_initialised(int* out) {
  __shared__ alignas(8) unsigned long long full;
  const unsigned bar = shared_address(&full);
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(bar) : "memory");  //! C098 ERROR mbarrier-uninit some
  int polls = 0;
  while (polls < 1000 && !phase_done(bar, 0)) ++polls;  //! C098 ERROR mbarrier-uninit some
  out[threadIdx.x] = 1;
}
CASE(C098, "cuda::barrier in shared memory, init skipped") {
  int* out = cases::zeros<int>(32);
  mbarrier_not_initialised<<<1, 32>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

// Three arrivals in a phase of two. Three arrivals one after the other would be right: the third belongs to the next
// phase.
__global__ void mbarrier_too_many_arrivals(int* out) {
  __shared__ alignas(8) unsigned long long full;
  const unsigned bar = shared_address(&full);
  asm volatile("mbarrier.init.shared.b64 [%0], 2;" ::"r"(bar) : "memory");
  asm volatile("mbarrier.arrive.shared.b64 _, [%0], 3;" ::"r"(bar) : "memory");  //! C099 ERROR mbarrier-overflow
  out[0] = 1;
}
CASE(C099, "init(2), then an arrival that counts for three in one phase") {
  int* out = cases::zeros<int>(1);
  mbarrier_too_many_arrivals<<<1, 1>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

__global__ void __cluster_dims__(2, 1, 1) cluster_peer_gone(int* out) {
  __shared__ int s[32];
  const cg::cluster_group cluster = cg::this_cluster();
  s[threadIdx.x] = threadIdx.x;
  cluster.sync();
  if (cluster.block_rank() == 0) {
    const int* peer = cluster.map_shared_rank(s, 1);
    out[threadIdx.x] =
        peer[31 - threadIdx.x];  //! C100 ERROR cluster-exit block=0,0,0 access=read message~"cluster.sync() after"
  }
}
CASE(C100, "block 0 reads block 1 shared memory after block 1 may have ended") {
  int* out = cases::zeros<int>(32);
  cluster_peer_gone<<<2, 32>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

__global__ void grid_sync_normal_launch(int* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
  cg::this_grid().sync();  //! C101 ERROR api-misuse some
}
CASE(C101, "this_grid().sync() in a kernel launched with <<<>>>") {
  int* out = cases::zeros<int>(64);
  grid_sync_normal_launch<<<2, 32>>>(out);  //! C101 ERROR api-misuse some message~cudaLaunchCooperativeKernel
  cudaDeviceSynchronize();
  cudaFree(out);
}

__global__ void barrier_skipped_in_the_last_turn(const int* in, int* out, int n) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  s[t] = 0;
  for (int first = 0; first < n; first += 64) {
    if (first + t < n) {
      s[t] += in[first + t];
      __syncthreads();  //! C201 WARNING barrier-divergent-warp block=0,0,0 thread=32,0,0 message~"lanes 16-31"
    }
  }
  if (t == 0) *out = s[0];
}
CASE(C201, "barrier inside the guard of the last, partial tile of a loop; the threads that skip it leave the kernel") {
  int *in = cases::zeros<int>(256), *out = cases::zeros<int>(1);
  barrier_skipped_in_the_last_turn<<<1, 64>>>(in, out, 240);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

__global__ void __cluster_dims__(2, 1, 1) cluster_peer_writes(int* out) {
  __shared__ int s[32];
  const cg::cluster_group cluster = cg::this_cluster();
  s[threadIdx.x] = blockIdx.x;  //! C228 ERROR race-shared access=write message~"cluster.sync() between line"
  __syncthreads();
  const int* peer = cluster.map_shared_rank(s, cluster.block_rank() ^ 1);
  out[32 * blockIdx.x + threadIdx.x] = peer[threadIdx.x];  //! C228 ERROR race-shared access=read
  cluster.sync();
}
CASE(C228, "block reads what another of its cluster has written, after __syncthreads() only") {
  int* out = cases::zeros<int>(64);
  cluster_peer_writes<<<2, 32>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
