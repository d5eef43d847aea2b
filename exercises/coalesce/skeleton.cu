// The wasteful layout, for comparison.
__global__ void lengths(const float* points, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = points[3 * i], y = points[3 * i + 1], z = points[3 * i + 2];
  out[i] = x * x + y * y + z * z;
}

__global__ void lengths_of_arrays(const float* x, const float* y, const float* z, float* out, int n) {}
