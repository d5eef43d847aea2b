// Exclusive scan of each block's 256 numbers. sums[b]: the sum of block b.
__global__ void scan_blocks(const int* in, int* out, int* sums, int n) {
  __shared__ int of_warps[8];
  const int i = blockIdx.x * 256 + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int mine = i < n ? in[i] : 0;
  int sum = mine;  // of this lane and those below
  for (int step = 1; step < 32; step *= 2) {
    const int other = __shfl_up_sync(0xffffffff, sum, step);
    if (lane >= step) sum += other;
  }
  if (lane == 31) of_warps[warp] = sum;
  __syncthreads();
  int before = 0, all = 0;
  for (int w = 0; w < 8; ++w) {
    if (w == warp) before = all;
    all += of_warps[w];
  }
  if (i < n) out[i] = before + sum - mine;
  if (threadIdx.x == 0) sums[blockIdx.x] = all;
}

__global__ void add_before(int* out, const int* before, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) out[i] += before[blockIdx.x];
}

// out[i] = in[0] + ... + in[i - 1]
void exclusive_scan(const int* in, int* out, int n) {
  const int blocks = (n + 255) / 256;
  int *sums, *before;
  cudaMalloc(&sums, blocks * sizeof(int));
  cudaMalloc(&before, blocks * sizeof(int));
  scan_blocks<<<blocks, 256>>>(in, out, sums, n);
  if (blocks > 1) {
    int* host = new int[blocks];
    cudaMemcpy(host, sums, blocks * sizeof(int), cudaMemcpyDeviceToHost);
    int all = 0;
    for (int b = 0; b < blocks; ++b) {
      const int mine = host[b];
      host[b] = all;
      all += mine;
    }
    cudaMemcpy(before, host, blocks * sizeof(int), cudaMemcpyHostToDevice);
    delete[] host;
    add_before<<<blocks, 256>>>(out, before, n);
  }
  cudaFree(sums);
  cudaFree(before);
}
