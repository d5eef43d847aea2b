void judge::test() {
  for (const int n : judge::sizes({1, 300, 20001, 70001}, 1 << 18)) {
    const auto low = judge::numbers<unsigned char>(n, 1), high = judge::numbers<unsigned char>(n, 2);
    std::vector<unsigned char> x(n);
    for (int i = 0; i < n; ++i)
      if (i % 1024 >= 768) x[i] = high[i] % 8 * 32 + low[i];  // rows of 1024, the first 768 pixels are sky
    std::vector<unsigned> right(256);
    if (judge::expecting())
      for (const unsigned char v : x) ++right[v];
    const judge::Buffer<unsigned char> dx(x);
    const judge::Buffer<unsigned> counts(std::vector<unsigned>(256));
    histogram<<<64, 256>>>(dx, counts, n);
    if (!judge::ran(judge::n_is(n))) return;
    judge::compare(judge::n_is(n), counts.read(), right);
  }
}
