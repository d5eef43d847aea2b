// Managed memory, __managed__ variables, and what a device says of itself.
#include "check.h"

__managed__ int counter = 5;
__managed__ float table[8] = {1, 2, 3, 4, 5, 6, 7, 8};

__global__ void work(int* p, int n) {
  const int i = threadIdx.x;
  if (i < n) p[i] += i;
  if (i < 8) table[i] *= 2;
  if (i == 0) counter += 10;
}

int main() {
  int *p, count = 0;
  expect_equal("counter before", 0, counter, 5);
  counter = 7;
  CHECK(cudaMallocManaged(&p, 100 * sizeof(int)));
  for (int i = 0; i < 100; i++) p[i] = 1000;
  work<<<1, 128>>>(p, 100);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 100; i++) expect_equal("p", i, p[i], 1000 + i);
  for (int i = 0; i < 8; i++) expect_equal("table", i, table[i], 2 * (i + 1));
  expect_equal("counter", 0, counter, 17);
  counter = 1;
  work<<<1, 32>>>(p, 0);
  CHECK(cudaDeviceSynchronize());
  expect_equal("counter", 1, counter, 11);
  CHECK(cudaGetDeviceCount(&count));
  for (int d = 0; d < count; d++) {
    cudaDeviceProp prop;
    CHECK(cudaGetDeviceProperties(&prop, d));
    expect(prop.warpSize == 32 && prop.multiProcessorCount > 0 && prop.maxThreadsPerBlock >= 512, prop.name, d,
           prop.multiProcessorCount, 1);
    int sms;
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, d));
    expect_equal("multiProcessorCount", d, sms, prop.multiProcessorCount);
  }
  CHECK(cudaFree(p));
  std::printf("managed memory: right\n");
}
