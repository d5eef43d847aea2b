// Accesses outside of allocations. A GPU maps pages of 2 MiB, so the first two cases cause no fault there.
//   bounds past N     N launches write 64 words past the end of a 1,024-byte allocation, then the words are read
//   bounds shared     a block's 100 bytes of shared memory are rounded up; the last words of that are used
//   bounds beyond     far beyond all allocations
//   bounds atomic     as past, with atomics
//   bounds before N   N bytes before the first allocation, where a GPU has memory of the driver
//   bounds alone N    the same, before a first allocation of 64 MiB: that has nothing before it
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void write_past(int* data, int n) {
  data[n + threadIdx.x] = 7;
}
__global__ void add_past(int* data, int n) {
  atomicAdd(data + n + threadIdx.x % 4, 1);
}
__global__ void read_past(const int* data, int n, int* sum) {
  atomicAdd(sum, data[n + static_cast<int>(threadIdx.x)]);
}
__global__ void shared_past(int* sum, int at) {
  __shared__ int words[25];
  words[threadIdx.x % 25] = 0;
  __syncthreads();
  words[at] = 3;
  __syncthreads();
  if (threadIdx.x == 0) *sum = words[at] + words[24];
}

int main(int argc, char** argv) {
  const auto is = [&](const char* name) { return argc > 1 && !std::strcmp(argv[1], name); };
  int *data, *sum, host = -1;
  if (cudaMalloc(&data, is("alone") ? 64 << 20 : 1024) != cudaSuccess || cudaMalloc(&sum, sizeof(int)) != cudaSuccess)
    return 3;
  cudaMemset(sum, 0, sizeof(int));
  const int launches = argc > 2 ? std::atoi(argv[2]) : 1;
  if (is("past"))
    for (int i = 0; i < launches; ++i) write_past<<<1, 64>>>(data, 256);
  if (is("past")) read_past<<<1, 64>>>(data, 256, sum);
  if (is("atomic")) add_past<<<1, 64>>>(data, 256);
  if (is("atomic")) read_past<<<1, 4>>>(data, 256, sum);
  if (is("shared")) shared_past<<<1, 32>>>(sum, 31);
  if (is("beyond")) write_past<<<1, 64>>>(data, 1 << 24);
  if (is("before") || is("alone")) read_past<<<1, 64>>>(data, -std::atoi(argv[2]) / 4, sum);
  const cudaError_t run = cudaDeviceSynchronize();
  cudaMemcpy(&host, sum, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("run: %s, sum %d\n", cudaGetErrorName(run), host);
  return run == cudaSuccess ? 5 : 7;
}
