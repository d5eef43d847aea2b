// Kernels of an all-reduce: sums and copies of parts of arrays, which may lie in other GPUs' memory.
#pragma once

#include <cuda_runtime.h>

namespace collectives {

constexpr int kMost = 8;       // GPUs
constexpr int kThreads = 256;  // of a block

// The same array on each GPU.
struct Arrays {
  const float* of[kMost];
  int count;
};

// Calls f4(i) for each whole group of four elements of [0, n), and f1(i) for each element of the rest.
template <class Four, class One>
__device__ void for_each(long n, Four f4, One f1) {
  const long first = static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x,
             step = static_cast<long>(gridDim.x) * blockDim.x;
  for (long i = first; i < n / 4; i += step) f4(i);
  for (long i = n / 4 * 4 + first; i < n; i += step) f1(i);
}

__device__ inline float4 operator+(float4 a, float4 b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
__device__ inline const float4* four(const float* p) {
  return reinterpret_cast<const float4*>(p);
}
__device__ inline float4* four(float* p) {
  return reinterpret_cast<float4*>(p);
}

// out = a + b. `a` or `b` may be a neighbour's.
__global__ void add(const float* a, const float* b, float* out, long n) {
  for_each(
      n, [&](long i) { four(out)[i] = four(a)[i] + four(b)[i]; }, [&](long i) { out[i] = a[i] + b[i]; });
}

// out = a, which is a neighbour's.
__global__ void fetch(const float* a, float* out, long n) {
  for_each(
      n, [&](long i) { four(out)[i] = four(a)[i]; }, [&](long i) { out[i] = a[i]; });
}

// Claim: out = the sum of all arrays, in the order of the GPUs. The loads of one element are independent, so they
// travel together. Without __grid_constant__ the lambdas, which refer to `in`, would see a copy in local memory.
__global__ void sum_all(const __grid_constant__ Arrays in, float* out, long n) {
  for_each(
      n,
      [&](long i) {
        float4 value[kMost];
#pragma unroll
        for (int g = 0; g < kMost; ++g)
          if (g < in.count) value[g] = four(in.of[g])[i];
        float4 sum = value[0];
#pragma unroll
        for (int g = 1; g < kMost; ++g)
          if (g < in.count) sum = sum + value[g];
        four(out)[i] = sum;
      },
      [&](long i) {
        float sum = in.of[0][i];
        for (int g = 1; g < in.count; ++g) sum += in.of[g][i];
        out[i] = sum;
      });
}

}  // namespace collectives
