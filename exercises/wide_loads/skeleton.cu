// n is a multiple of 4, and cudaMalloc aligned the pointers, so 16-byte accesses are allowed.
__global__ void copy4(const float* in, float* out, int n) {
  const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  for (int k = 0; k < 4; ++k)
    if (i + k < n) out[i + k] = in[i + k];
}
