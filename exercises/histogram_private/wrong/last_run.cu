__global__ void histogram(const unsigned char* x, unsigned* counts, int n) {
  __shared__ unsigned mine[256];
  mine[threadIdx.x] = 0;
  __syncthreads();
  int value = 0;
  unsigned count = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
    const int next = x[i];
    if (next != value) {
      if (count > 0) atomicAdd(&mine[value], count);
      value = next;
      count = 0;
    }
    ++count;
  }
  __syncthreads();
  atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
}
