void judge::test() {
  for (const int n : judge::sizes({1, 256, 1000}, 1 << 16)) {
    const auto x = judge::numbers(n);
    std::vector<float> right(x), all_even(x);
    const auto even = [](float v) {
      for (int k = 0; k < 20; ++k) v = v * 0.5f + 1;
      return v;
    };
    const auto odd = [](float v) {
      for (int k = 0; k < 30; ++k) v = v * 0.25f - 1;
      return v;
    };
    if (judge::expecting())
      for (int i = 0; i < n; ++i) right[i] = i % 2 == 0 ? even(x[i]) : odd(x[i]), all_even[i] = even(x[i]);
    const judge::Buffer<float> dx(x);
    mixed<<<judge::blocks(n, 256), 256>>>(dx, n);
    if (!judge::ran(judge::n_is(n))) return;
    judge::compare(judge::n_is(n), dx.read(), right);
  }
}
