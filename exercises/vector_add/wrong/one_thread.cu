__global__ void add(const float* a, const float* b, float* c, int n) {
  if (threadIdx.x == 0)
    for (int i = blockIdx.x * blockDim.x; i < (blockIdx.x + 1) * blockDim.x && i < n; ++i) c[i] = a[i] + b[i];
}
