// Broken on purpose: docs/debugging.md finds the mistake. Replaces each value by the mean of itself and its neighbours.
#include <cstdio>

__global__ void smooth(float* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float left = i > 0 ? data[i - 1] : data[i];
  float right = i < n - 1 ? data[i + 1] : data[i];
  float mean = (left + data[i] + right) / 3;
  __syncthreads();
  data[i] = mean;
}

int main() {
  const int n = 128;
  float host[n], result[n], *data;
  for (int i = 0; i < n; ++i) host[i] = i % 2 ? 3.0f : 0.0f;
  cudaMalloc(&data, sizeof host);
  cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice);
  smooth<<<n / 64, 64>>>(data, n);
  cudaMemcpy(result, data, sizeof result, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 1; i < n - 1; ++i) {
    float expected = (host[i - 1] + host[i] + host[i + 1]) / 3;
    if (result[i] == expected) continue;
    printf("value %d is %g, and should be %g\n", i, result[i], expected);
    ++wrong;
  }
  return wrong != 0;
}
