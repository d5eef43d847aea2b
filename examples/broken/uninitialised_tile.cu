// Broken on purpose: docs/debugging.md finds the mistake. Each block sums 64 of 100 values; all values are 1.
#include <cstdio>

__global__ void sum(const int* in, int* out, int n) {
  __shared__ int tile[64];
  int t = threadIdx.x;
  int i = blockIdx.x * blockDim.x + t;
  if (i < n) tile[t] = in[i];
  __syncthreads();
  for (int step = 32; step > 0; step /= 2) {
    if (t < step) tile[t] += tile[t + step];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = tile[0];
}

int main() {
  const int n = 100;
  int host[n], sums[2], *in, *out;
  for (int& value : host) value = 1;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof sums);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  sum<<<2, 64>>>(in, out, n);
  cudaMemcpy(sums, out, sizeof sums, cudaMemcpyDeviceToHost);
  printf("the sums are %d and %d, and should be 64 and 36\n", sums[0], sums[1]);
  return sums[0] != 64 || sums[1] != 36;
}
