// Right: barriers and shuffles that not all threads come to, and need not.
#include <cooperative_groups.h>

#include "cases.h"

namespace cg = cooperative_groups;

__global__ void trap_tail_exits_before_barrier(const int* in, int* out, int n) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  if (t >= n) return;
  s[t] = in[t];
  __syncthreads();
  out[t] = s[n - 1 - t];
}
//! C102 clean
CASE(C102, "threads >= n return, the rest uses __syncthreads()") {
  int *in = cases::zeros<int>(64), *out = cases::zeros<int>(64);
  trap_tail_exits_before_barrier<<<1, 64>>>(in, out, 40);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

__global__ void trap_barrier_uniform_condition(const int* in, int* out) {
  __shared__ int s[64];
  const int t = threadIdx.x, i = blockIdx.x * 64 + t;
  s[t] = in[i];
  if (blockIdx.x & 1) __syncthreads();
  out[i] = s[blockIdx.x & 1 ? 63 - t : t];
}
//! C103 clean
CASE(C103, "if (blockIdx.x&1) __syncthreads()") {
  int *in = cases::zeros<int>(256), *out = cases::zeros<int>(256);
  trap_barrier_uniform_condition<<<4, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

__global__ void trap_barrier_two_sites_by_warp(const int* in, int* out) {
  __shared__ int s[128];
  const int t = threadIdx.x;
  s[t] = in[t];
  if (t < 64) {
    __syncthreads();
    out[t] = s[127 - t];
  } else {
    __syncthreads();
    out[t] = s[127 - t] + 1;
  }
}
//! C104 at-most WARNING barrier-divergent-block
CASE(C104, "warps 0-1 pass a barrier in one branch, warps 2-3 another __syncthreads() in the else") {
  int *in = cases::zeros<int>(128), *out = cases::zeros<int>(128);
  trap_barrier_two_sites_by_warp<<<1, 128>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

__global__ void trap_barrier_count_in_loop(const int* turns, int* out) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  int sum = 0;
  for (int i = 0; i < turns[t]; ++i) {
    s[t] = t + i;
    __syncthreads();
    sum += s[63 - t];
    __syncthreads();
  }
  out[t] = sum;
}
//! C105 clean
CASE(C105, "loop with equal trip counts computed from data that is equal for all threads") {
  int host[64], *turns = cases::zeros<int>(64), *out = cases::zeros<int>(64);
  for (int& turn : host) turn = 3;
  cudaMemcpy(turns, host, sizeof host, cudaMemcpyHostToDevice);
  trap_barrier_count_in_loop<<<1, 64>>>(turns, out);
  cudaDeviceSynchronize();
  cudaFree(turns);
  cudaFree(out);
}

// Warps 0 and 1 meet at barrier 1, three times; warps 2 and 3 at barrier 2, five times.
__global__ void trap_named_barriers_disjoint(int* out) {
  __shared__ int s[128];
  const int t = threadIdx.x, pair = t / 64, turns = pair ? 5 : 3;
  int sum = 0;
  for (int i = 0; i < turns; ++i) {
    s[t] = t + i;
    asm volatile("bar.sync %0, 64;" ::"r"(1 + pair) : "memory");
    sum += s[64 * pair + 63 - t % 64];
    asm volatile("bar.sync %0, 64;" ::"r"(1 + pair) : "memory");
  }
  out[t] = sum;
}
//! C106 clean
CASE(C106, "ids 1 and 2 used by different warp pairs at different rates") {
  int* out = cases::zeros<int>(128);
  trap_named_barriers_disjoint<<<1, 128>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

__global__ void trap_shfl_partial_ballot(const int* in, int* out) {
  const int t = threadIdx.x, x = in[t];
  const bool some = x % 3 == 0;
  const unsigned mask = __ballot_sync(~0u, some);
  if (some) {
    const int first = __shfl_sync(mask, x, __ffs(mask) - 1);
    if (first >= 0) out[t] = first;
  }
}
//! C107 clean
CASE(C107, "mask from __ballot_sync used inside the branch") {
  int host[32], *in = cases::zeros<int>(32), *out = cases::zeros<int>(32);
  for (int t = 0; t < 32; ++t) host[t] = t + 1;
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  trap_shfl_partial_ballot<<<1, 32>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

// The last warp has 8 threads. What they read from beyond the block, they drop.
__global__ void trap_shfl_down_guarded(int* out) {
  int sum = threadIdx.x;
  for (int d = 16; d > 0; d /= 2) {
    const int other = __shfl_down_sync(__activemask(), sum, d);
    if (threadIdx.x % 32 + d < 32 && threadIdx.x + d < blockDim.x) sum += other;
  }
  if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = sum;
}
//! C224 clean
CASE(C224, "shuffles from threads beyond the block, guarded by threadIdx.x + d < blockDim.x") {
  int* out = cases::zeros<int>(2);
  trap_shfl_down_guarded<<<1, 40>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}

__global__ void trap_shfl_down_tail(const int* in, int* out) {
  int sum = in[threadIdx.x];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x == 0 && sum >= 0) out[0] = sum;
}
//! C108 clean
CASE(C108, "shfl_down: upper lanes get own value, unused") {
  int *in = cases::zeros<int>(32), *out = cases::zeros<int>(1);
  trap_shfl_down_tail<<<1, 32>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

__global__ void trap_shfl_exited_not_named(const int* in, int* out) {
  const int t = threadIdx.x;
  if (t >= 20) return;
  const int other = __shfl_sync(0xfffff, in[t], 19 - t);
  if (other >= 0) out[t] = other;
}
//! C109 clean
CASE(C109, "lanes exited; the mask names only live lanes") {
  int *in = cases::zeros<int>(32), *out = cases::zeros<int>(32);
  trap_shfl_exited_not_named<<<1, 32>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

// Lanes that arrive together take one place each, by one atomic for all.
__global__ void trap_activemask_group(const int* in, int* count, int* out) {
  const int x = in[threadIdx.x];
  if (x & 1) {
    const cg::coalesced_group group = cg::coalesced_threads();
    int place = 0;
    if (group.thread_rank() == 0) place = atomicAdd(count, static_cast<int>(group.size()));
    place = group.shfl(place, 0) + static_cast<int>(group.thread_rank());
    out[place] = x;
  }
}
//! C110 clean
CASE(C110, "coalesced_threads() in a divergent branch") {
  int host[32], *in = cases::zeros<int>(32), *count = cases::zeros<int>(1), *out = cases::zeros<int>(32);
  for (int t = 0; t < 32; ++t) host[t] = t / 3;
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  trap_activemask_group<<<1, 32>>>(in, count, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(count);
  cudaFree(out);
}

__global__ void trap_tail_leaves_before_the_loop(const int* in, int* out, int n, int turns) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  if (t >= n) return;
#pragma unroll 1
  for (int turn = 0; turn < turns; ++turn) {
    const int next = s[(t + 1) % n];
    __syncthreads();
    s[t] += next;
    __syncthreads();
  }
  out[t] = s[t];
}
//! C204 clean
CASE(C204, "threads >= n return between a barrier and a loop with barriers") {
  int *in = cases::zeros<int>(64), *out = cases::zeros<int>(64);
  trap_tail_leaves_before_the_loop<<<1, 64>>>(in, out, 40, 3);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}

__global__ void trap_arrives_and_leaves(int* out) {
  __shared__ int s[64];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (warp == 0) {
    s[lane] = lane;
    asm volatile("bar.arrive 2, 96;" ::: "memory");
  } else if (warp == 1) {
    asm volatile("bar.sync 2, 96;" ::: "memory");
    out[lane] = s[31 - lane] + s[32 + lane];
  } else {
    s[32 + lane] = 100;
    asm volatile("bar.arrive 2, 96;" ::: "memory");
  }
}
//! C220 clean
CASE(C220, "warps call bar.arrive and leave the kernel; the one that waits reads what they wrote") {
  int* out = cases::zeros<int>(32);
  trap_arrives_and_leaves<<<2, 96>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
