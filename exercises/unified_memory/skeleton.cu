__global__ void scale(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * in[i] + 1;
}

// Returns the sum of 2 * x + 1 over x = 0 .. n - 1.
double sum_managed(int n) {
  return 0;
}
