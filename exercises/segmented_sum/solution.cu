__global__ void segmented_sum(const int* segment, const float* x, float* sums, int n) {
  const unsigned all = 0xffffffff;
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  const int mine = i < n ? segment[i] : -1;
  float sum = i < n ? x[i] : 0;  // of the lanes of this segment up to this one
  for (int step = 1; step < 32; step *= 2) {
    const float other = __shfl_up_sync(all, sum, step);
    const int of_other = __shfl_up_sync(all, mine, step);
    if (lane >= step && of_other == mine) sum += other;
  }
  const int next = __shfl_down_sync(all, mine, 1);
  if (mine >= 0 && (lane == 31 || next != mine)) atomicAdd(&sums[mine], sum);
}
