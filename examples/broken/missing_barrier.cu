// Broken on purpose: docs/debugging.md finds the mistake. Each block reverses its 64 values in shared memory.
#include <cstdio>

__global__ void reverse(const int* in, int* out) {
  __shared__ int tile[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = in[i];
  int from = blockDim.x - 1 - threadIdx.x;
  out[i] = tile[from];
}

int main() {
  const int n = 128;
  int host[n], result[n], *in, *out, wrong = 0;
  for (int i = 0; i < n; ++i) host[i] = i + 1;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof result);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  reverse<<<n / 64, 64>>>(in, out);
  cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; ++i) wrong += result[i] != host[i / 64 * 64 + 63 - i % 64];
  printf("%d of %d values are wrong; the first is %d, and should be %d\n", wrong, n, result[0], host[63]);
  return wrong != 0;
}
