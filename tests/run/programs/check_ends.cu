// Difficult cases for a checker: the program calls abort() after a fault, its memory is `large`, or a `reset` frees it.
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void past_the_end(int* p, int n) {
  p[n + threadIdx.x] = 1;
}

int main(int argc, char** argv) {
  int* p = nullptr;
  if (argc > 1 && std::strcmp(argv[1], "large") == 0) {
    const cudaError_t made = cudaMalloc(&p, size_t{1} << 36);
    std::printf("large: %s\n", cudaGetErrorName(made));
    return cudaMemset(p, 0, 4096) != cudaSuccess;  // and no cudaFree
  }
  cudaMalloc(&p, 1024);
  if (argc > 1 && std::strcmp(argv[1], "reset") == 0) return cudaDeviceReset();
  past_the_end<<<1, 32>>>(p, 300);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("run: %s\n", cudaGetErrorName(error));
  std::fflush(stdout);
  if (error != cudaSuccess) std::abort();
}
