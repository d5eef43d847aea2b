__global__ void histogram(const unsigned char* x, unsigned* counts, int n) {
  __shared__ unsigned mine[32];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&mine[x[i]], 1);
  __syncthreads();
  if (threadIdx.x < 32) atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
}
