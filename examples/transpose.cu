// A matrix transpose as one writes it first: it is correct, and stores eight times the bytes it should.
#include <cstdio>
#include <vector>

constexpr int kSize = 1024;

__global__ void transpose(const float* in, float* out) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  out[column * kSize + row] = in[row * kSize + column];
}

int main() {
  std::vector<float> host(kSize * kSize);
  for (int i = 0; i < kSize * kSize; ++i) host[i] = i;
  float *in, *out;
  cudaMalloc(&in, host.size() * sizeof(float));
  cudaMalloc(&out, host.size() * sizeof(float));
  cudaMemcpy(in, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
  transpose<<<dim3(kSize / 32, kSize / 8), dim3(32, 8)>>>(in, out);
  cudaMemcpy(host.data(), out, host.size() * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("row 1, column 0: %.0f (expected 1)\n", host[kSize]);
  cudaFree(in);
  cudaFree(out);
}
