constexpr int kCount = 512;  // numbers of a block: two for each of its 256 threads

__global__ void scan(const float* in, float* out, int n) {
  __shared__ float s[kCount];
  const int t = threadIdx.x, first = blockIdx.x * kCount;
  for (int k = t; k < kCount; k += 256) s[k] = first + k < n ? in[first + k] : 0;
  for (int step = 1; step < kCount; step *= 2) {
    __syncthreads();
    for (int k = t + 256; k >= 0; k -= 256)
      if (k >= step) s[k] += s[k - step];
  }
  __syncthreads();
  for (int k = t; k < kCount; k += 256)
    if (first + k < n) out[first + k] = s[k];
}
