constexpr int kCount = 512;  // numbers of a block: two for each of its 256 threads

__global__ void scan(const float* in, float* out, int n) {
  __shared__ float s[2][kCount];  // each step reads one row and writes the other
  const int t = threadIdx.x, first = blockIdx.x * kCount;
  for (int k = t; k < kCount; k += 256) s[0][k] = first + k < n ? in[first + k] : 0;
  int from = 0;
  for (int step = 1; step < kCount; step *= 2) {
    __syncthreads();
    for (int k = t; k < kCount; k += 256) s[1 - from][k] = s[from][k] + (k >= step ? s[from][k - step] : 0);
    from = 1 - from;
  }
  __syncthreads();
  for (int k = t; k < kCount; k += 256)
    if (first + k < n) out[first + k] = s[from][k];
}
