// n is a multiple of 4, and cudaMalloc aligned the pointers, so 16-byte accesses are allowed.
__global__ void copy4(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) reinterpret_cast<float4*>(out)[i] = reinterpret_cast<const float4*>(in)[i];
}
