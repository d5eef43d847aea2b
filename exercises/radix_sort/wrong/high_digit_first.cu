constexpr int kCount = 1024;  // numbers of a block, 128 for each of its 8 warps

// counts[digit * blocks + block]: how often the digit occurs among the block's numbers.
__global__ void count_digits(const unsigned* in, int* counts, int n, int shift) {
  __shared__ int mine[256];
  mine[threadIdx.x] = 0;
  __syncthreads();
  for (int k = threadIdx.x; k < kCount; k += 256) {
    const int i = blockIdx.x * kCount + k;
    if (i < n) atomicAdd(&mine[in[i] >> shift & 255], 1);
  }
  __syncthreads();
  counts[threadIdx.x * gridDim.x + blockIdx.x] = mine[threadIdx.x];
}

// Exclusive scan in place, by one block of 1024 threads.
__global__ void scan(int* x, int n) {
  __shared__ int of_warps[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int carry = 0;
  for (int first = 0; first < n; first += 1024) {
    const int i = first + threadIdx.x, mine = i < n ? x[i] : 0;
    int sum = mine;
    for (int step = 1; step < 32; step *= 2) {
      const int other = __shfl_up_sync(0xffffffff, sum, step);
      if (lane >= step) sum += other;
    }
    if (lane == 31) of_warps[warp] = sum;
    __syncthreads();
    int before = carry;
    for (int w = 0; w < 32; ++w) {
      if (w < warp) before += of_warps[w];
      carry += of_warps[w];
    }
    if (i < n) x[i] = before + sum - mine;
    __syncthreads();
  }
}

__global__ void scatter(const unsigned* in, unsigned* out, const int* places, int n, int shift) {
  __shared__ int at[8][256];  // counts of each warp, then the places of its next numbers
  const int t = threadIdx.x, lane = t % 32, warp = t / 32, first = blockIdx.x * kCount + warp * (kCount / 8) + lane;
  for (int w = 0; w < 8; ++w) at[w][t] = 0;
  __syncthreads();
  for (int k = 0; k < kCount / 8; k += 32)
    if (first + k < n) atomicAdd(&at[warp][in[first + k] >> shift & 255], 1);
  __syncthreads();
  int next = places[t * gridDim.x + blockIdx.x];
  for (int w = 0; w < 8; ++w) {
    const int count = at[w][t];
    at[w][t] = next;
    next += count;
  }
  __syncthreads();
  for (int k = 0; k < kCount / 8; k += 32) {
    const bool inside = first + k < n;
    const unsigned key = inside ? in[first + k] : 0;
    const int digit = inside ? key >> shift & 255 : 256;
    const unsigned same = __match_any_sync(0xffffffff, digit);
    const int rank = __popc(same & ((1u << lane) - 1));
    if (inside) out[at[warp][digit] + rank] = key;
    __syncwarp();
    if (inside && rank == 0) at[warp][digit] += __popc(same);
    __syncwarp();
  }
}

// Sorts n numbers from 0 to 65535 in memory of the GPU.
void sort(unsigned* keys, int n) {
  const int blocks = (n + kCount - 1) / kCount;
  unsigned* other;
  int* counts;
  cudaMalloc(&other, n * sizeof(unsigned));
  cudaMalloc(&counts, 256 * blocks * sizeof(int));
  for (int shift = 0; shift < 16; shift += 8) {
    unsigned *in = shift == 0 ? keys : other, *out = shift == 0 ? other : keys;
    count_digits<<<blocks, 256>>>(in, counts, n, 8 - shift);
    scan<<<1, 1024>>>(counts, 256 * blocks);
    scatter<<<blocks, 256>>>(in, out, counts, n, 8 - shift);
  }
  cudaFree(other);
  cudaFree(counts);
}
