// Variables that nvcc -G keeps in registers, for registers_test.py. Its cases name lines of this file.
#include <cstdio>

__device__ __noinline__ int steps_to_one(int start) {
  int steps = 0;
  int value = start;
  while (value != 1) {
    value = value % 2 ? 3 * value + 1 : value / 2;
    ++steps;
  }
  return steps;
}

__global__ void count(int* out, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = 0;
  for (int k = 0; k < rounds; ++k) {
    int more = steps_to_one(i + k + 1);
    if (more % 3 != 0) sum += more;
  }
  out[i] = sum;
}

int main() {
  int *out, host[128], total = 0;
  cudaMalloc(&out, sizeof host);
  count<<<2, 64>>>(out, 4);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  for (int value : host) total += value;
  std::printf("%d\n", total);
  return 0;
}
