// Broken on purpose: docs/debugging.md finds the mistake. One block adds the numbers from 1 to 96.
#include <cstdio>

__global__ void sum(const int* in, int* out) {
  __shared__ int tile[96];
  int t = threadIdx.x;
  tile[t] = in[t];
  __syncthreads();
  for (int step = blockDim.x / 2; step > 0; step /= 2) {
    if (t < step) tile[t] += tile[t + step];
    __syncthreads();
  }
  if (t == 0) *out = tile[0];
}

int main() {
  const int n = 96;
  int host[n], result, *in, *out;
  for (int i = 0; i < n; ++i) host[i] = i + 1;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof result);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  sum<<<1, n>>>(in, out);
  cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost);
  printf("the sum is %d, and should be %d\n", result, n * (n + 1) / 2);
  return result != n * (n + 1) / 2;
}
