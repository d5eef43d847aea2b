// A kernel's resources of an SM, and memory with special counting rules: carve-outs, static shared
// memory beside an extern array, partial warps, constants, shared atomics of all kinds, inlined
// functions.
#include <cstdio>

extern __shared__ float4 dynamic[];
__constant__ float table[64];

template <int WHICH>
__global__ void mirror(float* data) {
  __shared__ float row[256];
  row[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = row[255 - threadIdx.x];
}

__global__ void flag_beside_dynamic(float* data) {
  __shared__ char flag;
  if (threadIdx.x == 0) flag = static_cast<char>(data[0]);
  __syncthreads();
  dynamic[threadIdx.x].x = flag;
  data[threadIdx.x] = dynamic[threadIdx.x ^ 1].x;
}

__global__ void partial_warp(float* data) {
  data[threadIdx.x] = 1;
}

__global__ void constants(float* data) {
  data[threadIdx.x] = table[threadIdx.x];
}

__device__ __forceinline__ float doubled(const float* data) {
  return data[threadIdx.x] * 2;
}

__global__ void calls_inlined(float* data) {
  data[threadIdx.x + 256] = doubled(data);  // line 37
}

// One warp, all lanes on one word.
enum Operation { add, count, exchange, swap };
template <class T, Operation OPERATION, bool RESULT>
__global__ void atomics(T* out) {
  __shared__ T word;
  if (threadIdx.x == 0) word = 0;
  __syncwarp();
  const T v = static_cast<T>(threadIdx.x + 1);
  T old = 0;
  if (OPERATION == add) old = atomicAdd(&word, v);
  if (OPERATION == count) old = atomicAdd(&word, T(1));
  if constexpr (OPERATION == exchange) old = atomicExch(&word, v);
  if constexpr (OPERATION == swap) old = atomicCAS(&word, v, v);
  out[threadIdx.x] = RESULT ? old : v;
}

int main() {
  float* data;
  cudaMalloc(&data, 512 * sizeof(double));
  cudaMemset(data, 0, 512 * sizeof(double));
  cudaFuncSetAttribute(mirror<1>, cudaFuncAttributePreferredSharedMemoryCarveout, 100);
  mirror<0><<<1, 256>>>(data);
  mirror<1><<<1, 256>>>(data);
  flag_beside_dynamic<<<1, 32, 32 * sizeof(float4)>>>(data);
  partial_warp<<<1, 40>>>(data);
  constants<<<1, 64>>>(data);
  calls_inlined<<<1, 64>>>(data);
  atomics<int, add, true><<<1, 32>>>(reinterpret_cast<int*>(data));
  atomics<int, count, false><<<1, 32>>>(reinterpret_cast<int*>(data));
  atomics<unsigned, exchange, false><<<1, 32>>>(reinterpret_cast<unsigned*>(data));
  atomics<unsigned, swap, true><<<1, 32>>>(reinterpret_cast<unsigned*>(data));
  atomics<unsigned long long, exchange, true><<<1, 32>>>(reinterpret_cast<unsigned long long*>(data));
  atomics<unsigned long long, swap, true><<<1, 32>>>(reinterpret_cast<unsigned long long*>(data));
  atomics<float, add, true><<<1, 32>>>(data);
  printf("done: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
