__global__ void block_sum(const float* x, float* partial, int n) {
  __shared__ float s[256];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? x[i] : 0;
  // Add the 256 numbers of s, in a tree.
  for (int step = 1; step < 256; step *= 2) {
    __syncthreads();
    const int at = 2 * step * t;
    if (at < 256) s[at] += s[at + step];
  }
  if (t == 0) partial[blockIdx.x] = s[0];
}
