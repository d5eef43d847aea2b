// Vector addition: device memory, a grid that covers a size that is no multiple of the block.
#include "check.h"

__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

int main() {
  const int n = 100'003;
  float* host = (float*)malloc(n * sizeof(float));
  for (int i = 0; i < n; i++) host[i] = i * 0.5f;
  float *a, *b, *c;
  CHECK(cudaMalloc(&a, n * sizeof(float)));
  CHECK(cudaMalloc(&b, n * sizeof(float)));
  CHECK(cudaMalloc(&c, n * sizeof(float)));
  CHECK(cudaMemcpy(a, host, n * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(b, a, n * sizeof(float), cudaMemcpyDeviceToDevice));
  add<<<(n + 255) / 256, 256>>>(a, b, c, n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(host, c, n * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; i++) expect_equal("c", i, host[i], i);
  CHECK(cudaFree(a));
  CHECK(cudaFree(b));
  CHECK(cudaFree(c));
  free(host);
  std::printf("vector addition: right\n");
}
