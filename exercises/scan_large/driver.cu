// In the run that is counted the test copies nothing: each number is 1, and the GPU compares.
__global__ void judge_ones(int* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) in[i] = 1;
}

__global__ void judge_compare(const int* out, int n, int* wrong) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && out[i] != i) atomicAdd_system(wrong, 1);
}

void judge_scan_counted(int n) {
  const judge::Buffer<int> in(n), out(n);
  int* wrong;  // memory of the host
  cudaMallocHost(&wrong, sizeof(int));
  *wrong = 0;
  judge_ones<<<judge::blocks(n, 256), 256>>>(in, n);
  exclusive_scan(in, out, n);
  judge_compare<<<judge::blocks(n, 256), 256>>>(out, n, wrong);
  if (judge::ran(judge::n_is(n))) judge::say(judge::n_is(n), *wrong == 0, std::to_string(*wrong) + " are wrong");
  cudaFreeHost(wrong);
}

void judge::test() {
  if (judge::counted()) return judge_scan_counted(1 << 17);
  for (const int n : {1, 256, 777, 70001}) {
    const auto x = judge::numbers<int>(n);
    std::vector<int> right(n), of_block(n);
    for (int i = 1; i < n; ++i) {
      right[i] = right[i - 1] + x[i - 1];
      of_block[i] = i % 256 ? of_block[i - 1] + x[i - 1] : 0;
    }
    const judge::Buffer<int> in(x), out(n);
    exclusive_scan(in, out, n);
    if (!judge::ran(judge::n_is(n))) return;
    judge::compare(judge::n_is(n), out.read(), right, 0,
                   {{"Each block begins at 0: the sums of the blocks before it are missing", of_block}});
  }
}
