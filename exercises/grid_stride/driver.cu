void judge::test() {
  constexpr int kBlocks = 64, kThreads = 256;
  for (const int n : judge::sizes({1, 1000, 100000}, 1 << 19)) {
    const auto x = judge::numbers(n, 1), y = judge::numbers(n, 2);
    std::vector<float> right(n), first(y);
    if (judge::expecting())
      for (int i = 0; i < n; ++i) {
        right[i] = 2 * x[i] + y[i];
        if (i < kBlocks * kThreads) first[i] = right[i];
      }
    const judge::Buffer<float> dx(x), dy(y);
    saxpy<<<kBlocks, kThreads>>>(2, dx, dy, n);
    if (!judge::ran(judge::n_is(n))) return;
    judge::compare(judge::n_is(n), dy.read(), right, 0,
                   {{"Only one element per thread was computed: each thread must go on to the next", first}});
  }
}
