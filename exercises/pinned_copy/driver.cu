void judge::test() {
  for (const int n : judge::sizes({1, 5000}, 200000)) {
    const auto in = judge::numbers(n);
    std::vector<float> right(n), out(n, -99.0f);
    if (judge::expecting())
      for (int i = 0; i < n; ++i) right[i] = 2 * in[i] + 1;
    scale_all(in.data(), out.data(), n);
    if (!judge::ran(judge::n_is(n))) return;
    judge::compare(judge::n_is(n), out, right, 0,
                   {{"Nothing came back, or the host did not wait for it", std::vector<float>(n, -99.0f)}});
  }
}
