constexpr int kCount = 512;  // numbers of a block: two for each of its 256 threads

// Place of number i in shared memory: one word is left free after 32.
__device__ int word(int i) {
  return i + i / 32;
}

__global__ void scan(const float* in, float* out, int n) {
  __shared__ float s[kCount + kCount / 32];
  const int t = threadIdx.x, first = blockIdx.x * kCount;
  for (int k = t; k < kCount; k += 256) s[word(k)] = first + k < n ? in[first + k] : 0;
  for (int step = 1; step < kCount; step *= 2) {
    __syncthreads();
    const int i = 2 * step * (t + 1) - 1;
    if (i < kCount) s[word(i)] += s[word(i - step)];
  }
  for (int step = kCount / 4; step > 0; step /= 2) {
    __syncthreads();
    const int i = 2 * step * (t + 1) - 1;
    if (i + step < kCount) s[word(i + step)] += s[word(i)];
  }
  __syncthreads();
  for (int k = t; k < kCount; k += 256)
    if (first + k < n) out[first + k] = s[word(k)];
}
