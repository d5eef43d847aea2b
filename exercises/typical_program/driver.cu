void judge::test() {
  for (const int n : judge::sizes({1, 300, 5000}, 65536)) {
    const auto in = judge::numbers(n);
    std::vector<float> right(n), out(n, -1.0f);
    if (judge::expecting())
      for (int i = 0; i < n; ++i) right[i] = in[i] * in[i];
    square_all(in.data(), out.data(), n);
    if (!judge::ran(judge::n_is(n))) return;
    judge::compare(
        judge::n_is(n), out, right, 0,
        {{"Nothing came back: is the second copy from the device to the host?", std::vector<float>(n, -1.0f)}});
  }
}
