constexpr int kCount = 512;  // numbers of a block: two for each of its 256 threads

__global__ void scan(const float* in, float* out, int n) {
  __shared__ float s[kCount];
  const int t = threadIdx.x, first = blockIdx.x * kCount;
  for (int k = t; k < kCount; k += 256) s[k] = first + k < n ? in[first + k] : 0;
  for (int step = 1; step < kCount; step *= 2) {
    __syncthreads();
    const int i = 2 * step * (t + 1) - 1;
    if (i < kCount) s[i] += s[i - step];
  }
  __syncthreads();
  if (t == 0) s[kCount - 1] = 0;
  for (int step = kCount / 2; step > 0; step /= 2) {
    __syncthreads();
    const int i = 2 * step * (t + 1) - 1;
    if (i < kCount) {
      const float left = s[i - step];
      s[i - step] = s[i];
      s[i] += left;
    }
  }
  __syncthreads();
  for (int k = t; k < kCount; k += 256)
    if (first + k < n) out[first + k] = s[k];
}
