__global__ void scale(float* x, float factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= factor;
}

// Launches scale() for n elements in GPU memory.
void launch_scale(float* x, float factor, int n) {
  const int threads = 256;
  const int blocks = n;
  scale<<<blocks, threads>>>(x, factor, n);
}
