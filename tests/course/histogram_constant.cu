// A histogram with atomics in shared memory, and constant memory by symbol.
#include <string.h>

#include "check.h"

__constant__ unsigned char group_of[256];
__device__ unsigned int total;

__global__ void histogram(const unsigned char* text, int n, unsigned int* bins) {
  __shared__ unsigned int mine[16];
  if (threadIdx.x < 16) mine[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&mine[group_of[text[i]]], 1u);
  __syncthreads();
  if (threadIdx.x < 16) {
    atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
    atomicAdd(&total, mine[threadIdx.x]);
  }
}

int main() {
  const int n = 10'000;
  unsigned char groups[256], *text = (unsigned char*)malloc(n), *device;
  unsigned int expected[16] = {}, bins[16], sum = 7, *device_bins;
  for (int i = 0; i < 256; i++) groups[i] = (unsigned char)(i * 5 % 16);
  for (int i = 0; i < n; i++) text[i] = (unsigned char)(i * i), expected[groups[text[i]]]++;
  CHECK(cudaMemcpyToSymbol(group_of, groups, sizeof groups));
  CHECK(cudaMemcpyToSymbol(total, &sum, sizeof sum));
  CHECK(cudaMalloc((void**)&device, n));
  CHECK(cudaMalloc((void**)&device_bins, sizeof bins));
  CHECK(cudaMemset(device_bins, 0, sizeof bins));
  CHECK(cudaMemcpy(device, text, n, cudaMemcpyHostToDevice));
  histogram<<<8, 128>>>(device, n, device_bins);
  CHECK(cudaMemcpy(bins, device_bins, sizeof bins, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpyFromSymbol(&sum, total, sizeof sum));
  for (int i = 0; i < 16; i++) expect_equal("bins", i, bins[i], expected[i]);
  expect_equal("total", 0, sum, n + 7);
  void* address;
  size_t size;
  CHECK(cudaGetSymbolAddress(&address, group_of));
  CHECK(cudaGetSymbolSize(&size, group_of));
  expect_equal("size of the symbol", 0, (double)size, 256);
  std::printf("histogram: right\n");
}
