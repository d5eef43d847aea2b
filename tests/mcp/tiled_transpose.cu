#include <cstdio>
#include <vector>

#include "size.h"
__global__ void tiled(const float* in, float* out) {
  __shared__ float tile[32][33];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32;
  for (int j = threadIdx.y; j < 32; j += 8)
    if (x < kSize && y + j < kSize) tile[j][threadIdx.x] = in[(y + j) * kSize + x];
  __syncthreads();
  const int column = y + threadIdx.x;
  for (int j = threadIdx.y; j < 32; j += 8)
    if (column < kSize && blockIdx.x * 32 + j < kSize)
      out[(blockIdx.x * 32 + j) * kSize + column] = tile[threadIdx.x][j];
}
int main() {
  constexpr int kCount = kSize * kSize;
  std::vector<float> in(kCount), out(kCount);
  for (int i = 0; i < kCount; ++i) in[i] = i;
  float *a, *b;
  cudaMalloc(&a, kCount * sizeof(float));
  cudaMalloc(&b, kCount * sizeof(float));
  cudaMemcpy(a, in.data(), kCount * sizeof(float), cudaMemcpyHostToDevice);
  tiled<<<dim3((kSize + 31) / 32, (kSize + 31) / 32), dim3(32, 8)>>>(a, b);
  cudaMemcpy(out.data(), b, kCount * sizeof(float), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < kCount; ++i) wrong += out[i % kSize * kSize + i / kSize] != in[i];
  puts(wrong == 0 ? "PASS" : "FAIL");
  cudaFree(a);
  cudaFree(b);
  return wrong != 0;
}
