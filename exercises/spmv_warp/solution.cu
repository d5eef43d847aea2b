__global__ void spmv(const int* first, const int* column, const float* value, const float* x, float* y, int rows) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;  // the whole warp
  float sum = 0;
  for (int k = first[row] + lane; k < first[row + 1]; k += 32) sum += value[k] * x[column[k]];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
  if (lane == 0) y[row] = sum;
}
