// Puts each number behind all smaller ones, and behind equal ones that come before it.
__global__ void sort_by_rank(const unsigned* in, unsigned* out, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
  const unsigned mine = in[i];
  int before = 0;
  for (int k = 0; k < n; ++k) before += in[k] < mine || (in[k] == mine && k < i);
  out[before] = mine;
}

// Sorts n numbers from 0 to 65535 in memory of the GPU.
void sort(unsigned* keys, int n) {
  unsigned* sorted;
  cudaMalloc(&sorted, n * sizeof(unsigned));
  sort_by_rank<<<(n + 255) / 256, 256>>>(keys, sorted, n);
  cudaMemcpy(keys, sorted, n * sizeof(unsigned), cudaMemcpyDeviceToDevice);
  cudaFree(sorted);
}
