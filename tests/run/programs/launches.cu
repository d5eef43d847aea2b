// Launches for tests that select some: ten rounds of three kernels, one of them a template in a namespace.
#include <cstdio>

namespace solver {
template <class T>
__global__ void relax(T* data) {
  data[threadIdx.x] += 1;
}
}  // namespace solver

__global__ void relax_borders(float* data) {
  data[threadIdx.x] += 2;
}

__global__ void residual(float* data) {
  data[threadIdx.x] *= 0.5f;
}

int main() {
  float* data;
  cudaMalloc(&data, 32 * sizeof(float));
  cudaMemset(data, 0, 32 * sizeof(float));
  for (int round = 0; round < 10; ++round) {
    solver::relax<float><<<1, 32>>>(data);
    relax_borders<<<1, 32>>>(data);
    residual<<<1, 32>>>(data);
  }
  float result;
  cudaMemcpy(&result, data, sizeof result, cudaMemcpyDeviceToHost);
  printf("result %f\n", result);
}
