__device__ float weights[9];

// Called once, before the kernel: w points to 9 weights in host memory.
void set_weights(const float* w) {
  cudaMemcpyToSymbol(weights, w, 9 * sizeof(float));
}

// out[i] is the sum of weights[k] * in[i + k], k = 0 .. 8; in has n + 8 elements.
__global__ void filter(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int k = 0; k < 9; ++k) sum += weights[k] * in[i + k];
  out[i] = sum;
}
