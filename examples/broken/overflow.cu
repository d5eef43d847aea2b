// Broken on purpose: docs/debugging.md finds the mistake. Adds the squares of 256 measured values.
#include <cstdio>

__global__ void add_squares(const unsigned* values, unsigned long long* total) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned v = values[i];
  unsigned long long square = v * v;
  atomicAdd(total, square);
}

int main() {
  const int n = 256;
  unsigned host[n], *values;
  unsigned long long *total, result, expected = 0;
  for (unsigned i = 0; i < n; ++i) {
    host[i] = 400 * i;
    expected += 160000ULL * i * i;
  }
  cudaMalloc(&values, sizeof host);
  cudaMalloc(&total, sizeof result);
  cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemset(total, 0, sizeof result);
  add_squares<<<2, 128>>>(values, total);
  cudaMemcpy(&result, total, sizeof result, cudaMemcpyDeviceToHost);
  printf("the total is %llu, and should be %llu\n", result, expected);
  return result != expected;
}
