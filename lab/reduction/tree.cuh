// The document's ladder: a tree in shared memory. Each launch leaves one partial sum a block. The same kernel is
// launched on the partial sums until one is left, so any length works. Block size: a power of two, 64 to kMostThreads.
// The loops read blockDim; only in the last rung does the compiler know it.
#pragma once

constexpr int kMostThreads = 512;

// Claim: every second, fourth, ... thread works, so every warp stays busy with most of its lanes off.
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

// Claim: the first threads work, so whole warps are on or off. But they stride through shared memory: bank conflicts.
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

// Adds two elements a thread on the way into shared memory.
template <class T>
__device__ T first_add(const T* in, long n) {
  const long i = blockIdx.x * (2L * blockDim.x) + threadIdx.x;
  return (i < n ? in[i] : 0) + (i + blockDim.x < n ? in[i + blockDim.x] : 0);
}

// Claim: the first addition happens during the load, so the half of the threads that only loaded is gone.
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

// One warp adds the last 64 sums. Since Volta its lanes need not run in lockstep. So __syncwarp must separate a lane's
// reads from another lane's writes, on both sides. (The document's volatile version relies on lockstep and is wrong
// today.)
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

// Claim: a single warp does the last six rounds, without block barriers.
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

// Claim: the compiler knows the block size, so no loop is left: fewer instructions, the same traffic.
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
