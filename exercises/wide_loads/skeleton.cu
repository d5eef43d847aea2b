// n is a multiple of 4, and the pointers are of cudaMalloc: 16 bytes fit.
__global__ void copy4(const float* in, float* out, int n) {
  const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  for (int k = 0; k < 4; ++k)
    if (i + k < n) out[i + k] = in[i + k];
}
