// The program of profiles/kernels.json: one kernel for each thing that a report shows. Recorded by record_profile.py.
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

constexpr int kTile = 32, kSize = 128;

__global__ void transpose_naive(float* out, const float* in, int n) {
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  out[x * n + y] = in[y * n + x];
}

__global__ void transpose_shared(float* out, const float* in, int n) {
  __shared__ float tile[kTile][kTile];
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * n + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}

__device__ __forceinline__ float clamped(const float* row, int i, int n) {
  return row[i < 0 ? 0 : i >= n ? n - 1 : i];
}

__global__ void blur(float* out, const float* in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = (clamped(in, i - 1, n) + clamped(in, i, n) + clamped(in, i + 1, n)) / 3;
}

__global__ void odd_even(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int steps = i % 2 == 0 ? 1 : 20;
  for (int k = 0; k < steps; ++k) data[i] = data[i] * 3 + k;
}

__global__ void histogram(unsigned* bins, const unsigned* keys, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[keys[i] % 4], 1u);
}

int main() {
  constexpr int kElements = kSize * kSize;
  float *a = nullptr, *b = nullptr;
  cudaMalloc(&a, kElements * sizeof(float));
  cudaMalloc(&b, kElements * sizeof(float));
  std::vector<unsigned> host(kElements);
  for (unsigned i = 0; i < kElements; ++i) host[i] = i * 2654435761u >> 7;
  cudaMemcpy(a, host.data(), kElements * sizeof(float), cudaMemcpyHostToDevice);
  dim3 grid(kSize / kTile, kSize / kTile), block(kTile, kTile);
  histogram<<<kElements / 256, 256>>>(reinterpret_cast<unsigned*>(b), reinterpret_cast<unsigned*>(a), kElements);
  odd_even<<<kElements / 100 + 1, 100>>>(reinterpret_cast<int*>(a), kElements);
  transpose_naive<<<grid, block>>>(b, a, kSize);
  transpose_shared<<<grid, block>>>(b, a, kSize);
  blur<<<kElements / 256, 256>>>(b, a, kElements);
  cudaError_t error = cudaDeviceSynchronize();
  std::puts(cudaGetErrorString(error));
  return error != cudaSuccess;
}
