// The document's ladder: a tree in shared memory. Each launch leaves one partial sum a block; the same kernel is
// launched on the partial sums until one is left, so any length works. Blocks have a power of two of threads, 64 to
// kMostThreads; the loops ask blockDim, so that the compiler knows the number in the last rung only.
#pragma once

constexpr int kMostThreads = 512;

// Claim: every second, fourth, ... thread works, so that every warp stays busy with most of its lanes off.
template <class T>
__global__ void reduce_interleaved_divergent(const T* in, T* out, long n) {
  __shared__ T sums[kMostThreads];
  const int tid = threadIdx.x;
  const long i = blockIdx.x * static_cast<long>(blockDim.x) + tid;
  sums[tid] = i < n ? in[i] : 0;
  __syncthreads();
  for (int step = 1; step < blockDim.x; step *= 2) {
    if (tid % (2 * step) == 0) sums[tid] += sums[tid + step];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = sums[0];
}

// Claim: the first threads work, so whole warps are on or off; but they stride through shared memory: bank conflicts.
template <class T>
__global__ void reduce_interleaved(const T* in, T* out, long n) {
  __shared__ T sums[kMostThreads];
  const int tid = threadIdx.x;
  const long i = blockIdx.x * static_cast<long>(blockDim.x) + tid;
  sums[tid] = i < n ? in[i] : 0;
  __syncthreads();
  for (int step = 1; step < blockDim.x; step *= 2) {
    const int index = 2 * step * tid;
    if (index < blockDim.x) sums[index] += sums[index + step];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = sums[0];
}

// Claim: neighbouring threads take neighbouring words: no bank conflicts.
template <class T>
__global__ void reduce_sequential(const T* in, T* out, long n) {
  __shared__ T sums[kMostThreads];
  const int tid = threadIdx.x;
  const long i = blockIdx.x * static_cast<long>(blockDim.x) + tid;
  sums[tid] = i < n ? in[i] : 0;
  __syncthreads();
  for (int step = blockDim.x / 2; step > 0; step /= 2) {
    if (tid < step) sums[tid] += sums[tid + step];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = sums[0];
}

// Two elements a thread on the way into shared memory.
template <class T>
__device__ T first_add(const T* in, long n) {
  const long i = blockIdx.x * (2L * blockDim.x) + threadIdx.x;
  return (i < n ? in[i] : 0) + (i + blockDim.x < n ? in[i + blockDim.x] : 0);
}

// Claim: the first addition happens during the load, so half the threads that did nothing else are gone.
template <class T>
__global__ void reduce_first_add(const T* in, T* out, long n) {
  __shared__ T sums[kMostThreads];
  const int tid = threadIdx.x;
  sums[tid] = first_add(in, n);
  __syncthreads();
  for (int step = blockDim.x / 2; step > 0; step /= 2) {
    if (tid < step) sums[tid] += sums[tid + step];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = sums[0];
}

// The last 64 sums by one warp. Since Volta its lanes need not run in step: what a lane reads must be separated from
// what another writes by __syncwarp, on both sides (the document's volatile version relies on lockstep and is wrong
// today).
template <class T>
__device__ void last_warp(T* sums, int tid) {
  T sum = sums[tid] + sums[tid + 32];
  for (int step = 16; step > 0; step /= 2) {
    sums[tid] = sum;
    __syncwarp();
    const T other = sums[tid + step];
    __syncwarp();
    sum += other;
  }
  if (tid == 0) sums[0] = sum;
}

// Claim: the last six rounds are one warp's own business: no block barrier for them.
template <class T>
__global__ void reduce_last_warp(const T* in, T* out, long n) {
  __shared__ T sums[kMostThreads];
  const int tid = threadIdx.x;
  sums[tid] = first_add(in, n);
  __syncthreads();
  for (int step = blockDim.x / 2; step > 32; step /= 2) {
    if (tid < step) sums[tid] += sums[tid + step];
    __syncthreads();
  }
  if (tid < 32) last_warp(sums, tid);
  if (tid == 0) out[blockIdx.x] = sums[0];
}

// Claim: with the block size known to the compiler no loop is left: fewer instructions, the same traffic.
template <class T, int kBlock>
__global__ void reduce_unrolled(const T* in, T* out, long n) {
  __shared__ T sums[kBlock];
  const int tid = threadIdx.x;
  sums[tid] = first_add(in, n);
  __syncthreads();
  if (kBlock >= 512) {
    if (tid < 256) sums[tid] += sums[tid + 256];
    __syncthreads();
  }
  if (kBlock >= 256) {
    if (tid < 128) sums[tid] += sums[tid + 128];
    __syncthreads();
  }
  if (kBlock >= 128) {
    if (tid < 64) sums[tid] += sums[tid + 64];
    __syncthreads();
  }
  if (tid < 32) last_warp(sums, tid);
  if (tid == 0) out[blockIdx.x] = sums[0];
}
