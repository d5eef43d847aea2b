// Each block sorts its 512 numbers. In runs of `size` numbers, number k is compared with number `other`.
__global__ void sort_blocks(int* x, int n) {
  __shared__ int s[512];
  const int t = threadIdx.x, first = blockIdx.x * 512;
  for (int k = t; k < 512; k += 256)
    if (first + k < n) s[k] = x[first + k];
  for (int size = 2; size <= 512; size *= 2)
    for (int step = size / 2; step > 0; step /= 2) {
      const int k = t / step * 2 * step + t % step;
      const int other = step == size / 2 ? k ^ (size - 1) : k + step;  // the first step is mirrored
      if (first + k < n && first + other < n) {
        __syncthreads();
        const int a = s[k], b = s[other];
        s[k] = min(a, b);
        s[other] = max(a, b);
      }
    }
  __syncthreads();
  for (int k = t; k < 512; k += 256)
    if (first + k < n) x[first + k] = s[k];
}
