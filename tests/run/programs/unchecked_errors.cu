// API errors that the program ignores, and some that it checks. The argument selects the case.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

__global__ void fill(int* p) {
  p[threadIdx.x] = 1;
}
__global__ void __launch_bounds__(128) bounded(int* p) {
  p[threadIdx.x] = 1;
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "";
  int *device, host[32];
  if (cudaMalloc(&device, sizeof host) != cudaSuccess) return 1;
  if (!std::strcmp(mode, "launch")) {
    for (int i = 0; i <= argc; ++i) fill<<<1, 2048>>>(device);
    bounded<<<1, 256>>>(device);
  } else if (!std::strcmp(mode, "copy")) {
    cudaMemcpy(host, device, 1024, cudaMemcpyDeviceToHost);
    int* huge;
    cudaMalloc(&huge, size_t{1} << 45);
  } else if (!std::strcmp(mode, "last_error")) {
    fill<<<1, 2048>>>(device);
    std::printf("launch: %d\n", static_cast<int>(cudaGetLastError()));
  } else if (!std::strcmp(mode, "checked")) {
    if (cudaMemcpy(host, device, 1024, cudaMemcpyDeviceToHost) != cudaSuccess) std::printf("copy failed\n");
    cudaError_t kept = cudaMemset(device, 0, 1024);
    std::printf("memset: %d\n", static_cast<int>(kept));
  }
  std::printf("end\n");
  return 0;
}
