// What a program that is compiled for one architecture sees of the GPU: attributes, the architecture of its code, and
// the most shared memory of a block.
//   architectures
#include <cstdio>

__global__ void sum(int* out) {
  extern __shared__ int shared[];
  shared[threadIdx.x] = threadIdx.x;
  __syncthreads();
  atomicAdd(out, shared[blockDim.x - 1 - threadIdx.x]);
#ifdef __CUDA_ARCH_FAMILY_SPECIFIC__
  out[1] = __CUDA_ARCH_FAMILY_SPECIFIC__;
#endif
#ifdef __CUDA_ARCH__  // host code has none
  out[2] = __CUDA_ARCH__;
#endif
}

int attribute(cudaDeviceAttr which) {
  int value = -1;
  cudaDeviceGetAttribute(&value, which, 0);
  return value;
}

int main() {
  std::printf("capability %d.%d, SMs %d\n", attribute(cudaDevAttrComputeCapabilityMajor),
              attribute(cudaDevAttrComputeCapabilityMinor), attribute(cudaDevAttrMultiProcessorCount));
  std::printf("an SM: %d threads, %d blocks, %d bytes shared, %d registers\n",
              attribute(cudaDevAttrMaxThreadsPerMultiProcessor), attribute(cudaDevAttrMaxBlocksPerMultiprocessor),
              attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor),
              attribute(cudaDevAttrMaxRegistersPerMultiprocessor));
  std::printf("clusters %d, integrated %d\n", attribute(cudaDevAttrClusterLaunch), attribute(cudaDevAttrIntegrated));
  const int most = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  int *out = nullptr, seen[3] = {};
  cudaMalloc(&out, sizeof seen);
  cudaMemset(out, 0, sizeof seen);
  const cudaError_t beyond = cudaFuncSetAttribute(sum, cudaFuncAttributeMaxDynamicSharedMemorySize, most + 1);
  const cudaError_t within = cudaFuncSetAttribute(sum, cudaFuncAttributeMaxDynamicSharedMemorySize, most);
  cudaGetLastError();
  sum<<<1, 256, most>>>(out);
  const cudaError_t launched = cudaGetLastError();
  cudaMemcpy(seen, out, sizeof seen, cudaMemcpyDefault);
  std::printf("a block: %d bytes shared: %s, %s, %s\n", most, cudaGetErrorName(beyond), cudaGetErrorName(within),
              cudaGetErrorName(launched));
  std::printf("sum %d, code of %d, family %d\n", seen[0], seen[2], seen[1]);
}
