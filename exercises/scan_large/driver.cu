// In the run that is counted nothing may be copied: the test's kernels read and write memory of the host.
__global__ void judge_move(const int* from, int* to, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i];
}

std::vector<int> judge_scan_without_copies(const std::vector<int>& x) {
  const int n = x.size(), blocks = judge::blocks(n, 256);
  const judge::Buffer<int> in(n), out(n);
  int* pinned;
  cudaMallocHost(&pinned, n * sizeof(int));
  std::copy(x.begin(), x.end(), pinned);
  judge_move<<<blocks, 256>>>(pinned, in, n);
  exclusive_scan(in, out, n);
  judge_move<<<blocks, 256>>>(out, pinned, n);
  cudaDeviceSynchronize();
  const std::vector<int> got(pinned, pinned + n);
  cudaFreeHost(pinned);
  return got;
}

std::vector<int> judge_scan(const std::vector<int>& x) {
  const judge::Buffer<int> in(x), out(x.size());
  exclusive_scan(in, out, x.size());
  return out.read();
}

void judge::test() {
  for (const int n : judge::sizes({1, 256, 777, 70001}, 1 << 17)) {
    const auto x = judge::numbers<int>(n);
    std::vector<int> right(n), of_block(n);
    if (judge::expecting())
      for (int i = 1; i < n; ++i) {
        right[i] = right[i - 1] + x[i - 1];
        of_block[i] = i % 256 ? of_block[i - 1] + x[i - 1] : 0;
      }
    const auto got = judge::counted() ? judge_scan_without_copies(x) : judge_scan(x);
    if (!judge::ran(judge::n_is(n))) return;
    judge::compare(judge::n_is(n), got, right, 0,
                   {{"Each block begins at 0: the sums of the blocks before it are missing", of_block}});
  }
}
