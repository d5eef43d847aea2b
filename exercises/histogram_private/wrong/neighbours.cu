__global__ void histogram(const unsigned char* x, unsigned* counts, int n) {
  __shared__ unsigned mine[256];
  mine[threadIdx.x] = 0;
  __syncthreads();
  int value = 0;
  unsigned count = 0;
  const int each = (n + gridDim.x * 256 - 1) / (gridDim.x * 256);
  const int first = (blockIdx.x * 256 + threadIdx.x) * each, last = min(first + each, n);
  for (int i = first; i < last; ++i) {
    const int next = x[i];
    if (next != value) {
      if (count > 0) atomicAdd(&mine[value], count);
      value = next;
      count = 0;
    }
    ++count;
  }
  if (count > 0) atomicAdd(&mine[value], count);
  __syncthreads();
  atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
}
