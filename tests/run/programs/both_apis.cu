// The runtime and the driver API in one program, linked with -lcuda: one launches a kernel, the other makes contexts.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>

__global__ void fill(int* p, int value) {
  p[threadIdx.x] = value;
}

int main() {
  int *memory = nullptr, values[32] = {};
  CUcontext before = nullptr, current = nullptr, own = nullptr;
  if (cuCtxGetCurrent(&before) != CUDA_ERROR_NOT_INITIALIZED) std::printf("initialized too early\n");
  cudaMalloc(&memory, sizeof values);
  cuCtxGetCurrent(&current);
  CUdevice device = -1;
  cuCtxGetDevice(&device);
  std::printf("the runtime's context: %s, device %d\n", current ? "current" : "none", device);
  fill<<<1, 32>>>(memory, 7);
  cuCtxSynchronize();
  cudaMemcpy(values, memory, sizeof values, cudaMemcpyDeviceToHost);
  std::printf("filled: %d\n", values[31]);
  cuCtxCreate(&own, nullptr, 0, 1);
  int of_runtime = -1;
  cudaGetDevice(&of_runtime);
  std::printf("device of the new context: %d\n", of_runtime);
  cuCtxDestroy(own);
  cudaGetDevice(&of_runtime);
  std::printf("and after it: %d\n", of_runtime);
  return 0;
}
