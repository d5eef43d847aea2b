// Beyond the document: registers instead of shared memory, wide loads, and one launch instead of several.
#pragma once

#include <cooperative_groups.h>

#include "reduction/tree.cuh"

constexpr unsigned kAllLanes = 0xffffffffu;

template <class T>
__device__ T warp_sum(T sum) {
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(kAllLanes, sum, step);
  return sum;
}

// Thread 0 gets the sum of the block: a shuffle tree in each warp, one word of shared memory a warp, one more tree.
template <int kBlock, class T>
__device__ T block_sum(T sum) {
  __shared__ T of_warps[kBlock / 32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  sum = warp_sum(sum);
  if (lane == 0) of_warps[warp] = sum;
  __syncthreads();
  sum = threadIdx.x < kBlock / 32 ? of_warps[lane] : T(0);
  return warp == 0 ? warp_sum(sum) : sum;
}

template <int kBlock, class T>
__device__ T strided_sum(const T* in, long n) {
  T sum = 0;
  for (long i = blockIdx.x * static_cast<long>(kBlock) + threadIdx.x; i < n; i += static_cast<long>(gridDim.x) * kBlock)
    sum += in[i];
  return sum;
}

// Claim: lanes hand each other their registers: shared memory only between warps, one barrier.
template <int kBlock, class T>
__global__ void shuffles(const T* in, T* out, long n) {
  const T sum = block_sum<kBlock>(strided_sum<kBlock>(in, n));
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// 16 bytes of T.
template <class T>
struct alignas(16) Wide {
  T values[16 / sizeof(T)];
};

// A thread's share by 16-byte loads, four of them in flight; the elements behind the last full 16 bytes go to the first
// threads of the grid. `in` comes from cudaMalloc and is aligned.
template <int kBlock, class T>
__device__ T wide_sum(const T* in, long n) {
  constexpr int kWide = 16 / sizeof(T), kUnroll = 4;
  const long threads = static_cast<long>(gridDim.x) * kBlock, wide = n / kWide;
  const long first = blockIdx.x * static_cast<long>(kBlock) + threadIdx.x;
  const Wide<T>* words = reinterpret_cast<const Wide<T>*>(in);
  T sums[kWide] = {};
  long i = first;
  for (; i + (kUnroll - 1) * threads < wide; i += kUnroll * threads) {
    Wide<T> word[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) word[u] = words[i + u * threads];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u)
#pragma unroll
      for (int k = 0; k < kWide; ++k) sums[k] += word[u].values[k];
  }
  for (; i < wide; i += threads) {
    const Wide<T> word = words[i];
#pragma unroll
    for (int k = 0; k < kWide; ++k) sums[k] += word.values[k];
  }
  T sum = wide * kWide + first < n ? in[wide * kWide + first] : T(0);
#pragma unroll
  for (int k = 0; k < kWide; ++k) sum += sums[k];
  return sum;
}

// Claim: 16 bytes a load ask for the same sectors with a quarter of the requests, and keep more bytes in flight.
template <int kBlock, class T>
__global__ void vector_loads(const T* in, T* out, long n) {
  const T sum = block_sum<kBlock>(wide_sum<kBlock>(in, n));
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// Claim: every block adds its sum with one atomic: one launch; the order of the additions is not fixed.
template <int kBlock, class T>
__global__ void atomics(const T* in, T* out, long n) {
  const T sum = block_sum<kBlock>(wide_sum<kBlock>(in, n));
  if (threadIdx.x == 0) atomicAdd(out, sum);
}

// Claim: the block that finishes last adds the partial sums: one launch, and the same order at every run.
template <int kBlock, class T>
__global__ void last_block(const T* in, T* partial, T* out, unsigned* finished, long n) {
  __shared__ bool am_last;
  const T sum = block_sum<kBlock>(wide_sum<kBlock>(in, n));
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();  // the sum must be visible before the count says so
    am_last = atomicAdd(finished, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!am_last) return;
  T rest = 0;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += kBlock) rest += __ldcg(partial + b);
  __syncthreads();
  rest = block_sum<kBlock>(rest);
  if (threadIdx.x == 0) *out = rest;
}

// Claim: a barrier over the whole grid (cooperative launch) replaces the second launch.
template <int kBlock, class T>
__global__ void grid_sync(const T* in, T* partial, T* out, long n) {
  const T sum = block_sum<kBlock>(wide_sum<kBlock>(in, n));
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
  cooperative_groups::this_grid().sync();
  if (blockIdx.x != 0) return;
  T rest = 0;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += kBlock) rest += __ldcg(partial + b);
  __syncthreads();
  rest = block_sum<kBlock>(rest);
  if (threadIdx.x == 0) *out = rest;
}
