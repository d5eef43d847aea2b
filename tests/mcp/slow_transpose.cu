#include <cstdio>
#include <vector>
constexpr int kSize = 1024;
__global__ void transpose(const float* in, float* out) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x < kSize && y < kSize) out[x * kSize + y] = in[y * kSize + x];
}
__global__ void scale(float* data) {
  data[threadIdx.x] *= 2;
}
int main() {
  constexpr int kCount = kSize * kSize;
  std::vector<float> in(kCount), out(kCount);
  for (int i = 0; i < kCount; ++i) in[i] = i;
  float *a, *b;
  cudaMalloc(&a, kCount * sizeof(float));
  cudaMalloc(&b, kCount * sizeof(float));
  cudaMemcpy(a, in.data(), kCount * sizeof(float), cudaMemcpyHostToDevice);
  transpose<<<dim3(kSize / 32, kSize / 8), dim3(32, 8)>>>(a, b);
  cudaMemcpy(out.data(), b, kCount * sizeof(float), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < kCount; ++i) wrong += out[i % kSize * kSize + i / kSize] != in[i];
  puts(wrong == 0 ? "PASS" : "FAIL");
  cudaFree(a);
  cudaFree(b);
  return wrong != 0;
}
