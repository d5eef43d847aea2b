// A library with a kernel, for open_plugin.cpp.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void triple(int* p) {
  p[threadIdx.x] = 3 * threadIdx.x;
}

extern "C" int run() {
  int *device, host[32];
  if (cudaMalloc(&device, sizeof host) != cudaSuccess) return 1;
  triple<<<1, 32>>>(device);
  if (cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
  std::printf("plugin: %d\n", host[7]);
  return host[7] != 21;
}
