// Kernels whose counts follow from their addresses and are computed by hand in cases/known_answers.toml. 4 blocks of
// 256 threads, so 32 warps. Arrays begin at multiples of 256 bytes.
#include <cuda_runtime.h>

#include <cstdio>

constexpr int kBlocks = 4, kThreads = 256, kAll = kBlocks * kThreads;

#define INDEX const int i = blockIdx.x * kThreads + threadIdx.x
__global__ void coalesced(const float* in, float* out) {
  INDEX;
  out[i] = in[i];
}
__global__ void every_other(const float* in, float* out) {
  INDEX;
  out[i] = in[2 * i];
}
__global__ void shifted_by_one(const float* in, float* out) {
  INDEX;
  out[i] = in[i + 1];
}
__global__ void far_apart(const float* in, float* out) {
  INDEX;
  out[i] = in[8 * i];
}
__global__ void same_word(const float* in, float* out) {
  INDEX;
  out[i] = in[blockIdx.x];
}
__global__ void doubles(const double* in, double* out) {
  INDEX;
  out[i] = in[i];
}
__global__ void reversed(const float* in, float* out) {
  INDEX;
  out[i] = in[kAll - 1 - i];
}
__global__ void guarded(const float* in, float* out, int n) {
  INDEX;
  if (i < n) out[i] = in[i];
}
__global__ void bytes(const unsigned char* in, unsigned char* out) {
  INDEX;
  out[i] = in[i];
}
// Stores without conflicts; loads of words that are STRIDE apart.
template <int STRIDE>
__global__ void shared_stride(float* out) {
  __shared__ float s[kThreads * STRIDE];
  INDEX;
  for (int k = 0; k < STRIDE; ++k) s[k * kThreads + threadIdx.x] = i;
  __syncthreads();
  out[i] = s[threadIdx.x * STRIDE];
}
__global__ void shared_same_word(float* out) {
  __shared__ float s[kThreads];
  INDEX;
  s[threadIdx.x] = i;
  __syncthreads();
  out[i] = s[threadIdx.x / 32];
}
__global__ void count_up(int* counter) {
  atomicAdd(counter, 1);
}

int main() {
  float *in, *out;
  int* counter;
  if (cudaMalloc(&in, 8 * kAll * sizeof(double)) != cudaSuccess) return 1;
  if (cudaMalloc(&out, kAll * sizeof(double)) != cudaSuccess) return 1;
  if (cudaMalloc(&counter, sizeof(int)) != cudaSuccess) return 1;
  cudaMemset(in, 0, 8 * kAll * sizeof(double));
  cudaMemset(counter, 0, sizeof(int));
  coalesced<<<kBlocks, kThreads>>>(in, out);
  every_other<<<kBlocks, kThreads>>>(in, out);
  shifted_by_one<<<kBlocks, kThreads>>>(in, out);
  far_apart<<<kBlocks, kThreads>>>(in, out);
  same_word<<<kBlocks, kThreads>>>(in, out);
  doubles<<<kBlocks, kThreads>>>((const double*)in, (double*)out);
  reversed<<<kBlocks, kThreads>>>(in, out);
  guarded<<<kBlocks, kThreads>>>(in, out, 1000);
  bytes<<<kBlocks, kThreads>>>((const unsigned char*)in, (unsigned char*)out);
  shared_stride<2><<<kBlocks, kThreads>>>(out);
  shared_stride<3><<<kBlocks, kThreads>>>(out);
  shared_stride<32><<<kBlocks, kThreads>>>(out);
  shared_same_word<<<kBlocks, kThreads>>>(out);
  count_up<<<kBlocks, kThreads>>>(counter);
  int counted = 0;
  cudaMemcpy(&counted, counter, sizeof counted, cudaMemcpyDeviceToHost);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("done: %s, %d\n", cudaGetErrorName(error), counted);
  return error != cudaSuccess;
}
