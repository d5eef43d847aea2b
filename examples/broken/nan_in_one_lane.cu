// Broken on purpose: docs/debugging.md finds the mistake. Adds the standard deviations of 64 groups of three values.
#include <cstdio>

__global__ void deviations(const float* in, float* out) {
  __shared__ float tile[64];
  int t = threadIdx.x;
  float a = in[3 * t], b = in[3 * t + 1], c = in[3 * t + 2];
  float mean = (a + b + c) / 3;
  float variance = (a * a + b * b + c * c) / 3 - mean * mean;
  tile[t] = sqrtf(variance);
  __syncthreads();
  for (int step = 32; step > 0; step /= 2) {
    if (t < step) tile[t] += tile[t + step];
    __syncthreads();
  }
  if (t == 0) *out = tile[0];
}

int main() {
  const int n = 3 * 64;
  float host[n], result, *in, *out;
  for (int i = 0; i < n; ++i) host[i] = i % 3;
  for (int i = 3 * 45; i < 3 * 46; ++i) host[i] = 21.7f;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof result);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  deviations<<<1, 64>>>(in, out);
  cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost);
  printf("the sum of the deviations is %g, and should be 51.4393\n", result);
  return result != result;
}
