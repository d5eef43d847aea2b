// Prints its arguments, runs one small kernel and ends with the exit code of its first argument.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

__global__ void square(int* values) {
  values[threadIdx.x] = threadIdx.x * threadIdx.x;
}

int main(int argc, char** argv) {
  int *device, host[32];
  if (cudaMalloc(&device, sizeof host) != cudaSuccess) return 100;
  square<<<1, 32>>>(device);
  if (cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess) return 101;
  for (int i = 0; i < 32; ++i)
    if (host[i] != i * i) return 102;
  for (int i = 1; i < argc; ++i) std::printf("argument %d: %s\n", i, argv[i]);
  std::fprintf(stderr, "to stderr\n");
  cudaFree(device);
  return argc > 1 ? std::atoi(argv[1]) : 0;
}
