// Each block sorts its 512 numbers. In runs of `size` numbers, number k is compared with number `other`.
__global__ void sort_blocks(int* x, int n) {
  const int t = threadIdx.x, first = blockIdx.x * 512;
  for (int size = 2; size <= 512; size *= 2)
    for (int step = size / 2; step > 0; step /= 2) {
      const int k = t / step * 2 * step + t % step;
      const int other = step == size / 2 ? k ^ (size - 1) : k + step;  // the first step is mirrored
      if (first + k < n && first + other < n) {
        const int a = x[first + k], b = x[first + other];
        x[first + k] = min(a, b);
        x[first + other] = max(a, b);
      }
      __syncthreads();
    }
}
