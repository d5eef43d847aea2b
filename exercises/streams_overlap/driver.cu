void judge::test() {
  for (const int n : judge::sizes({4, 4000}, 1 << 20)) {
    const auto numbers = judge::numbers(n);
    std::vector<float> right(n);
    if (judge::expecting())
      for (int i = 0; i < n; ++i) right[i] = 2 * numbers[i] + 1;
    float *in, *out;
    cudaMallocHost(&in, n * sizeof(float));
    cudaMallocHost(&out, n * sizeof(float));
    std::memcpy(in, numbers.data(), n * sizeof(float));
    std::memset(out, 0xFF, n * sizeof(float));
    scale_pieces(in, out, n);
    const std::vector<float> got(out, out + n);  // read before anything waits
    const bool fine = judge::ran(judge::n_is(n));
    cudaFreeHost(in);
    cudaFreeHost(out);
    if (!fine) return;
    judge::compare(judge::n_is(n), got, right);
  }
}
