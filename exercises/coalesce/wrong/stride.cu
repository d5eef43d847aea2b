__global__ void lengths_of_arrays(const float* x, const float* y, const float* z, float* out, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x, columns = (threads + 31) / 32;
  const int i = t % 32 * columns + t / 32;
  if (i < n) out[i] = x[i] * x[i] + y[i] * y[i] + z[i] * z[i];
}
