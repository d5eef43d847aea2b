void judge::test() {
  for (const int n : judge::sizes({256, 512, 5000}, 1 << 17)) {
    const auto in = judge::numbers(n);
    std::vector<float> right(n);
    if (judge::expecting())
      for (int i = 0; i < n; ++i) right[i] = in[i] * 0.5f + in[i % 256 ? i - 1 : i] * 0.5f;
    const judge::Buffer<float> din(in), out(n);
    launch_smooth(din, out, n);
    if (!judge::ran(judge::n_is(n))) return;
    judge::compare(judge::n_is(n), out.read(), right);
  }
}
