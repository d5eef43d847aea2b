// Broken on purpose: docs/debugging.md finds the mistake. Warp 0 fills a tile four times, and warp 1 adds it up.
#include <cstdio>

constexpr int kFull = 1, kEmpty = 2;  // barriers of the two warps

__device__ void wait_at(int barrier) {
  asm volatile("bar.sync %0, 64;" ::"r"(barrier) : "memory");
}

__device__ void arrive_at(int barrier) {
  asm volatile("bar.arrive %0, 64;" ::"r"(barrier) : "memory");
}

__global__ void pipeline(const int* in, int* out, int rounds) {
  __shared__ int tile[32];
  int lane = threadIdx.x % 32;
  int sum = 0;
  if (threadIdx.x < 32) {
    for (int round = 0; round < rounds; ++round) {
      wait_at(kEmpty);
      tile[lane] = in[round * 32 + lane];
      arrive_at(kFull);
    }
  } else {
    for (int round = 0; round < rounds; ++round) {
      wait_at(kFull);
      sum += tile[lane];
      arrive_at(kEmpty);
    }
    out[lane] = sum;
  }
}

int main() {
  const int rounds = 4, n = rounds * 32;
  int host[n], *in, *out;
  for (int i = 0; i < n; ++i) host[i] = i;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, 32 * sizeof(int));
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  pipeline<<<1, 64>>>(in, out, rounds);
  cudaError_t error = cudaDeviceSynchronize();
  printf("%s\n", cudaGetErrorString(error));
  return error != cudaSuccess;
}
