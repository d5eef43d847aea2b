// Split of an SM's memory into L1 and shared memory: carveout HOW WORDS. One block reads WORDS words twice. The second
// time they are in L1, if it is large enough.
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void twice(const float* in, float* out, int words) {
  float sum = 0;
  for (int round = 0; round < 2; ++round) {
    for (int i = static_cast<int>(threadIdx.x); i < words; i += static_cast<int>(blockDim.x)) sum += in[i];
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "none";
  const int words = argc > 2 ? std::atoi(argv[2]) : 24576;
  const auto is = [how](const char* name) { return std::strcmp(how, name) == 0; };
  if (is("shared") || is("attribute")) cudaFuncSetCacheConfig(twice, cudaFuncCachePreferShared);
  if (is("l1") || is("kernel_before_device")) cudaFuncSetCacheConfig(twice, cudaFuncCachePreferL1);
  if (is("equal")) cudaFuncSetCacheConfig(twice, cudaFuncCachePreferEqual);
  if (is("device_shared") || is("kernel_before_device")) cudaDeviceSetCacheConfig(cudaFuncCachePreferShared);
  if (is("attribute")) cudaFuncSetAttribute(twice, cudaFuncAttributePreferredSharedMemoryCarveout, 0);
  if (is("device_shared")) {
    cudaFuncCache now = cudaFuncCachePreferNone;
    cudaDeviceGetCacheConfig(&now);
    std::printf("the device prefers %d\n", static_cast<int>(now));
  }
  float *in = nullptr, *out = nullptr;
  cudaMalloc(&in, static_cast<size_t>(words) * sizeof(float));
  cudaMalloc(&out, 1024 * sizeof(float));
  cudaMemset(in, 0, static_cast<size_t>(words) * sizeof(float));
  twice<<<1, 1024>>>(in, out, words);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(error));
  return error == cudaSuccess ? 0 : 1;
}
