// Bugs whose report must appear once and name the repair.
#include <cstdio>
#include <cstring>

__global__ void unrolled(const float* in, float* out) {
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) sum += in[threadIdx.x + k];
  if (sum == 0) out[0] = 1;
}
__global__ void in_place(float* a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) a[i] = 0.5f * (a[i - 1] + a[i + 1]);
}
__global__ void sum_to_one(const int* in, int* sum) {
  *sum += in[threadIdx.x];
}
__global__ void rows(float* a, size_t pitch, int width) {
  if (threadIdx.x < width) a[blockIdx.x * pitch + threadIdx.x] = 1;
}

int main(int, char** argv) {
  const char* const what = argv[1];
  float *a, *b;
  size_t pitch;
  cudaMalloc(&a, 1024 * sizeof(float));
  cudaMemset(a, 0, 1024 * sizeof(float));
  cudaMallocPitch(&b, &pitch, 100 * sizeof(float), 50);
  cudaMemset2D(b, pitch, 0, 100 * sizeof(float), 50);
  if (!std::strcmp(what, "unrolled")) unrolled<<<1, 1024>>>(a, b);
  if (!std::strcmp(what, "in_place")) in_place<<<4, 256>>>(a, 1024);
  if (!std::strcmp(what, "sum_to_one")) sum_to_one<<<1, 64>>>(reinterpret_cast<int*>(a), reinterpret_cast<int*>(b));
  if (!std::strcmp(what, "rows")) rows<<<50, 128>>>(b, pitch, 100);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  cudaFree(a);
  cudaFree(b);
}
