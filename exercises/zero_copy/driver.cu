void judge::test() {
  for (const int n : judge::sizes({1, 5000}, 100000)) {
    const auto numbers = judge::numbers(n);
    std::vector<float> right(n);
    if (judge::expecting())
      for (int i = 0; i < n; ++i) right[i] = 2 * numbers[i] + 1;
    float *in, *out;
    cudaHostAlloc((void**)&in, n * sizeof(float), cudaHostAllocMapped);
    cudaHostAlloc((void**)&out, n * sizeof(float), cudaHostAllocMapped);
    std::memcpy(in, numbers.data(), n * sizeof(float));
    std::memset(out, 0xFF, n * sizeof(float));
    scale_in_place(in, out, n);
    const std::vector<float> got(out, out + n);
    const bool fine = judge::ran(judge::n_is(n));
    cudaFreeHost(in);
    cudaFreeHost(out);
    if (!fine) return;
    judge::compare(judge::n_is(n), got, right);
  }
}
