// Beyond the document: as many threads as the GPU holds at once walk through the whole array and leave one partial sum
// a block. Blocks have kThreads threads.
#pragma once

#if __has_include(<cooperative_groups.h>)
#include <cooperative_groups.h>
#define LAB_COOPERATIVE_GROUPS 1
#endif

constexpr int kThreads = 256;

// The thread's share of the array: elements one grid width apart.
template <class T>
__device__ T strided_sum(const T* in, long n) {
  T sum = 0;
  for (long i = blockIdx.x * static_cast<long>(kThreads) + threadIdx.x; i < n; i += gridDim.x * long(kThreads))
    sum += in[i];
  return sum;
}

// Claim: most additions happen in registers. Shared memory and barriers are used once for hundreds of elements.
template <class T>
__global__ void reduce_several(const T* in, T* out, long n) {
  __shared__ T sums[kThreads];
  const int tid = threadIdx.x;
  sums[tid] = strided_sum(in, n);
  __syncthreads();
  for (int step = kThreads / 2; step > 0; step /= 2) {
    if (tid < step) sums[tid] += sums[tid + step];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = sums[0];
}

// Returns the sum over the warp in lane 0.
template <class T>
__device__ T warp_sum(T value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffffu, value, step);
  return value;
}

// Returns the sum over the block in thread 0. May be called again only after a barrier.
template <class T>
__device__ T block_sum(T value) {
  __shared__ T warps[kThreads / 32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  value = warp_sum(value);
  if (lane == 0) warps[warp] = value;
  __syncthreads();
  return warp == 0 ? warp_sum(lane < kThreads / 32 ? warps[lane] : T(0)) : T(0);
}

// Claim: lanes pass their sums on by shuffles: one barrier instead of nine, and one value a warp in shared memory.
template <class T>
__global__ void reduce_shuffle(const T* in, T* out, long n) {
  const T sum = block_sum(strided_sum(in, n));
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// 16 bytes: 4 ints or floats, or 2 doubles, moved by one instruction.
template <class T>
struct alignas(16) Vector {
  static constexpr int kCount = 16 / sizeof(T);
  T v[kCount];
};

// The thread's share in vectors, four loads in flight. The last n % kCount elements follow one by one.
template <class T>
__device__ T vector_sum(const T* in, long n) {
  constexpr int kCount = Vector<T>::kCount, kFlight = 4;
  const Vector<T>* vectors = reinterpret_cast<const Vector<T>*>(in);
  const long count = n / kCount, stride = gridDim.x * long(kThreads);
  const long first = blockIdx.x * static_cast<long>(kThreads) + threadIdx.x;
  T sums[kFlight] = {};
  long i = first;
  for (; i + (kFlight - 1) * stride < count; i += kFlight * stride) {
    Vector<T> value[kFlight];
#pragma unroll
    for (int k = 0; k < kFlight; ++k) value[k] = vectors[i + k * stride];
#pragma unroll
    for (int k = 0; k < kFlight; ++k)
      for (int j = 0; j < kCount; ++j) sums[k] += value[k].v[j];
  }
  for (; i < count; i += stride) {
    const Vector<T> value = vectors[i];
    for (int j = 0; j < kCount; ++j) sums[0] += value.v[j];
  }
  if (count * kCount + first < n) sums[0] += in[count * kCount + first];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// Claim: a quarter of the load instructions, with 64 bytes a thread in flight: memory is the only limit left.
template <class T>
__global__ void reduce_vector(const T* in, T* out, long n) {
  const T sum = block_sum(vector_sum(in, n));
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// Claim: one launch: each block adds its sum to the result. The order differs from run to run, so the last bits of a
// float may differ too.
template <class T>
__global__ void reduce_atomic(const T* in, T* result, long n) {
  const T sum = block_sum(vector_sum(in, n));
  if (threadIdx.x == 0) atomicAdd(result, sum);
}

#ifdef LAB_COOPERATIVE_GROUPS
// Claim: one launch: after a barrier over the grid, block 0 adds the partial sums. All blocks must be resident.
template <class T>
__global__ void reduce_grid_sync(const T* in, T* partial, T* result, long n) {
  const T sum = block_sum(vector_sum(in, n));
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
  cooperative_groups::this_grid().sync();
  if (blockIdx.x != 0) return;
  T rest = 0;
  for (int i = threadIdx.x; i < gridDim.x; i += kThreads) rest += partial[i];
  rest = block_sum(rest);
  if (threadIdx.x == 0) *result = rest;
}
#endif

// Claim: one launch and no waiting: the block that finishes last adds the partial sums, in the same order each time.
// The fences make a block's partial sum visible before its ticket, and order the ticket before the reads. `tickets` is
// 0 before and after.
template <class T>
__global__ void reduce_last_block(const T* in, T* partial, T* result, unsigned* tickets, long n) {
  __shared__ bool last;
  const T sum = block_sum(vector_sum(in, n));
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(tickets, 1u) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!last) return;
  T rest = 0;
  for (int i = threadIdx.x; i < gridDim.x; i += kThreads) rest += partial[i];
  rest = block_sum(rest);
  if (threadIdx.x == 0) {
    *result = rest;
    *tickets = 0;
  }
}
