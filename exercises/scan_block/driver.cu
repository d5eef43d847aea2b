void judge::test() {
  constexpr int kCount = 512;
  for (const int n : judge::sizes({1, 512, 777, 1501}, 1 << 14)) {
    const auto x = judge::numbers(n);
    std::vector<float> right(n), before(n);
    if (judge::expecting())
      for (int i = 0; i < n; ++i) {
        before[i] = i % kCount ? right[i - 1] : 0;
        right[i] = before[i] + x[i];
      }
    const judge::Buffer<float> in(x), out(n);
    scan<<<judge::blocks(n, kCount), 256>>>(in, out, n);
    if (!judge::ran(judge::n_is(n))) return;
    judge::compare(judge::n_is(n), out.read(), right, 0,
                   {{"This is the exclusive scan: each number counts in its own sum, too", before},
                    {"It is a copy: nothing was added", x}});
  }
}
