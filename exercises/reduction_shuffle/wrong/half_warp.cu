__global__ void block_sum(const float* x, float* partial, int n) {
  __shared__ float s[8];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  float sum = i < n ? x[i] : 0;
  for (int step = 8; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
  if (t % 32 == 0) s[t / 32] = sum;
  __syncthreads();
  if (t >= 32) return;
  sum = t < 8 ? s[t] : 0;
  for (int step = 4; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
  if (t == 0) partial[blockIdx.x] = sum;
}
