// Copies argv[1] floats, and checks them.
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void copy(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 0;
  std::vector<float> from(n, 1.5f), to(n, 0.0f);
  float *in = nullptr, *out = nullptr;
  cudaMalloc(&in, n * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));
  cudaMemcpy(in, from.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  copy<<<(n + 255) / 256, 256>>>(in, out, n);
  const cudaError_t error = cudaMemcpy(to.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  std::printf("%d values, %s\n", n, cudaGetErrorString(error));
  return n == 4096 && to == from ? 0 : 1;
}
