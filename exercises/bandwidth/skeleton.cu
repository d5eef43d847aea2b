__global__ void copy(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

// Returns the GB/s of copy() for n floats in GPU memory.
double measured_bandwidth(const float* in, float* out, int n) {
  copy<<<(n + 255) / 256, 256>>>(in, out, n);
  return 0;
}
