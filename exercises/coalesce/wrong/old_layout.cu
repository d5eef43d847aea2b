__global__ void lengths_of_arrays(const float* x, const float* y, const float* z, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[3 * i] * x[3 * i] + y[i] * y[i] + z[i] * z[i];
}
