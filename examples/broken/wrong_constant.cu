// Broken on purpose: docs/debugging.md finds the mistake. A filter with the weights 1/4, 1/2 and 1/4.
#include <cstdio>

__constant__ float weights[3];

__global__ void filter(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0 || i >= n - 1) return;
  float sum = 0;
  for (int k = 0; k < 3; ++k) sum += weights[k] * in[i + k - 1];
  out[i] = sum;
}

int main() {
  const int n = 64;
  const float w[3] = {0.25f, 0.5f, 0.25f};
  float host[n], result[n], *in, *out;
  for (float& value : host) value = 8;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemcpyToSymbol(weights, w, sizeof(float));
  filter<<<1, n>>>(in, out, n);
  cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost);
  printf("value 1 is %g, and should be 8\n", result[1]);
  return result[1] != 8;
}
