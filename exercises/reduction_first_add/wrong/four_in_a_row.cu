__global__ void block_sum(const float* x, float* partial, int n) {
  __shared__ float s[256];
  const int t = threadIdx.x, i = blockIdx.x * (4 * blockDim.x) + 4 * t;
  float sum = 0;
  for (int k = 0; k < 4; ++k)
    if (i + k < n) sum += x[i + k];
  s[t] = sum;
  for (int step = 128; step > 0; step /= 2) {
    __syncthreads();
    if (t < step) s[t] += s[t + step];
  }
  if (t == 0) partial[blockIdx.x] = s[0];
}
