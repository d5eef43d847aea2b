// A library that calls the CUDA runtime and has no kernels, for open_plugin.cpp.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

extern "C" int run() {
  cudaDeviceProp properties;
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess) return 1;
  const char* space = std::strrchr(properties.name, ' ');
  void* device = nullptr;
  int word = 0;
  if (cudaMalloc(&device, sizeof word) != cudaSuccess || cudaMemset(device, 7, sizeof word) != cudaSuccess) return 2;
  if (cudaMemcpy(&word, device, sizeof word, cudaMemcpyDeviceToHost) != cudaSuccess) return 3;
  std::printf("%s: %d\n", space ? space + 1 : properties.name, word & 0xff);
  return cudaFree(device) != cudaSuccess;
}
