// A program that contains a function of NVIDIA's cuBLAS, as if linked with -lcublas_static.
#include <cstdio>

extern "C" int cublasCreate_v2(void** handle) {
  *handle = nullptr;
  return 1;
}

__global__ void nothing() {}

int main() {
  void* handle;
  nothing<<<1, 1>>>();
  std::printf("status %d, %s\n", cublasCreate_v2(&handle), cudaGetErrorString(cudaDeviceSynchronize()));
}
