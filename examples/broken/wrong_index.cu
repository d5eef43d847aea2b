// Broken on purpose: docs/debugging.md finds the mistake. Brightens an image of 8 rows and 1000 columns.
#include <cstdio>

__global__ void brighten(const int* in, int* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y;
  if (x >= width) return;
  int pixel = x * width + y;
  int value = in[pixel] + 16;
  out[pixel] = value < 255 ? value : 255;
}

int main() {
  const int width = 1000, height = 8;
  static int host[width * height];
  int *in, *out;
  for (int i = 0; i < width * height; ++i) host[i] = i % 256;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  brighten<<<dim3(8, height), 128>>>(in, out, width, height);
  cudaError_t error = cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  printf("%s\n", cudaGetErrorString(error));
  return error != cudaSuccess;
}
