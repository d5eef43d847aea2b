// A transpose through a padded tile of shared memory; occupancy queries and a chosen block size.
#include "check.h"

const int kSide = 32;

__global__ void transpose(const int* in, int* out, int n) {
  __shared__ int tile[kSide][kSide + 1];
  for (int y = threadIdx.y; y < kSide; y += blockDim.y)
    tile[y][threadIdx.x] = in[(blockIdx.y * kSide + y) * n + blockIdx.x * kSide + threadIdx.x];
  __syncthreads();
  for (int y = threadIdx.y; y < kSide; y += blockDim.y)
    out[(blockIdx.x * kSide + y) * n + blockIdx.y * kSide + threadIdx.x] = tile[threadIdx.x][y];
}

int main() {
  const int n = 128;
  int *in, *out, *host = new int[n * n], grid = 0, block = 0, blocks = 0;
  CHECK(cudaMalloc(&in, n * n * sizeof(int)));
  CHECK(cudaMalloc(&out, n * n * sizeof(int)));
  for (int i = 0; i < n * n; i++) host[i] = i;
  CHECK(cudaMemcpy(in, host, n * n * sizeof(int), cudaMemcpyHostToDevice));
  transpose<<<dim3(n / kSide, n / kSide), dim3(kSide, 8)>>>(in, out, n);
  CHECK(cudaPeekAtLastError());
  CHECK(cudaMemcpy(host, out, n * n * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n * n; i++) expect_equal("transpose", i, host[i], i % n * n + i / n);
  CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, transpose, 0, 0));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, transpose, 256, 0));
  expect(grid > 0 && block >= 32 && blocks > 0, "occupancy", 0, block, 256);
  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, transpose));
  expect_equal("static shared memory", 0, (double)attributes.sharedSizeBytes, kSide * (kSide + 1) * 4);
  delete[] host;
  std::printf("transpose: right\n");
}
