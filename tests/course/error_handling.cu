// Errors come back where the documentation says, and their names and texts are CUDA's.
#include <string.h>

#include "check.h"

__global__ void nothing() {}

void expect_error(const char* what, cudaError_t got, cudaError_t wanted) {
  if (got == wanted) return;
  std::printf("%s: %s, expected %s\n", what, cudaGetErrorName(got), cudaGetErrorName(wanted));
  std::exit(1);
}

int main() {
  void* p = nullptr;
  expect_error("too much memory", cudaMalloc(&p, size_t(1) << 50), cudaErrorMemoryAllocation);
  expect_error("last error", cudaGetLastError(), cudaErrorMemoryAllocation);
  expect_error("cleared", cudaGetLastError(), cudaSuccess);
  nothing<<<1, 5000>>>();
  expect_error("block of 5000", cudaPeekAtLastError(), cudaErrorInvalidValue);  // as an H200 says with CUDA 13
  expect_error("still there", cudaGetLastError(), cudaErrorInvalidValue);
  expect_error("no such device", cudaSetDevice(99), cudaErrorInvalidDevice);
  expect_error("null", cudaMemcpy(nullptr, nullptr, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  (void)cudaGetLastError();
  nothing<<<1, 1>>>();
  CHECK(cudaDeviceSynchronize());
  if (strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") ||
      strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument")) {
    std::printf("%s\n", cudaGetErrorString(cudaErrorInvalidValue));
    return 1;
  }
  std::printf("error handling: right\n");
}
