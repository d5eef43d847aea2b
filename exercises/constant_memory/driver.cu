void judge::test() {
  const std::vector<float> w = {1, 2, 3, 4, 5, 4, 3, 2, 0.5f};
  set_weights(w.data());
  for (const int n : judge::sizes({1, 256, 1000}, 1 << 16)) {
    const auto in = judge::numbers(n + 8);
    std::vector<float> right(n), reversed(n);
    if (judge::expecting())
      for (int i = 0; i < n; ++i)
        for (int k = 0; k < 9; ++k) right[i] += w[k] * in[i + k], reversed[i] += w[8 - k] * in[i + k];
    const judge::Buffer<float> din(in), out(n);
    filter<<<judge::blocks(n, 256), 256>>>(din, out, n);
    if (!judge::ran(judge::n_is(n))) return;
    judge::compare(judge::n_is(n), out.read(), right, 0,
                   {{"The weights are used in the reverse order", reversed},
                    {"All weights are 0: were they copied?", std::vector<float>(n)}});
  }
}
