// The stack of a thread and cudaLimitStackSize.
//   stack_limit KERNEL DEPTH [LIMIT]
// On an H100 (nvcc 13.0, driver 580), `recursive` passes up to depth 4 with the default of 1024 bytes (frames of 176),
// 90 with 16384 and 1450 with 262144. Deeper ones end with cudaErrorIllegalAddress. `frames` and `pointer` pass with
// any limit, `recursive_leaf` with none below 12104 bytes.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

__host__ __device__ __noinline__ int sum(int n) {
  volatile int kept[32];
  for (int i = 0; i < 32; i++) kept[i] = n + i;
  if (n <= 0) return kept[3];
  const int below = sum(n - 1);
  return below % 1000 + kept[below & 31];
}
__global__ void recursive(int* out, int n) {
  out[threadIdx.x] = sum(n);
}

__device__ __noinline__ int large_frame(int n) {
  volatile int kept[3000];
  for (int i = 0; i < 3000; i++) kept[i] = n + i;
  return kept[n & 31];
}
__device__ int (*pointer_to_large)(int) = large_frame;
__global__ void frames(int* out, int n) {
  out[threadIdx.x] = large_frame(n);
}
__global__ void pointer(int* out, int n) {
  out[threadIdx.x] = pointer_to_large(n);
}

// With a sum alone, clang would turn the recursion into a loop.
__device__ __noinline__ int leaf_is_large(int n) {
  return n < 2 ? large_frame(n) : leaf_is_large(n - 1) / 2 + 1;
}
__global__ void recursive_leaf(int* out, int n) {
  out[threadIdx.x] = leaf_is_large(n);
}

// No variables: the frame is that of the call itself.
__device__ __noinline__ int count(int n) {
  return n < 2 ? n : count(n - 1) / 2 + 1;
}
__global__ void no_variables(int* out, int n) {
  out[threadIdx.x] = count(n);
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const auto is = [&](const char* name) { return !std::strcmp(argv[1], name); };
  const int depth = std::atoi(argv[2]);
  int *out, first = -1;
  std::size_t limit = 0;
  cudaMalloc(&out, 128);
  if (argc > 3)
    std::printf("set: %s, ", cudaGetErrorName(cudaDeviceSetLimit(cudaLimitStackSize, std::strtoull(argv[3], 0, 10))));
  cudaDeviceGetLimit(&limit, cudaLimitStackSize);
  if (is("recursive")) recursive<<<1, 32>>>(out, depth);
  if (is("frames")) frames<<<1, 32>>>(out, depth);
  if (is("pointer")) pointer<<<1, 32>>>(out, depth);
  if (is("recursive_leaf")) recursive_leaf<<<1, 32>>>(out, depth);
  if (is("no_variables")) no_variables<<<1, 32>>>(out, depth);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaMemcpy(&first, out, 4, cudaMemcpyDeviceToHost);
  const int wanted = is("recursive") ? sum(depth) : is("frames") || is("pointer") ? depth + (depth & 31) : -1;
  std::printf("limit %zu: %s%s\n", limit, cudaGetErrorName(error), wanted != -1 && first == wanted ? ", right" : "");
  return error == cudaSuccess ? 0 : 7;
}
