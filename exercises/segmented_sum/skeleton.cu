__global__ void segmented_sum(const int* segment, const float* x, float* sums, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&sums[segment[i]], x[i]);
}
