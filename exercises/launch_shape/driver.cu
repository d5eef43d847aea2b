void judge::test() {
  for (const int n : judge::sizes({1, 255, 256, 257, 5000}, 100000)) {
    const auto x = judge::numbers(n);
    std::vector<float> scaled(x), rounded_down(x);
    if (judge::expecting()) {
      for (int i = 0; i < n; ++i) scaled[i] = 3 * x[i];
      std::copy_n(&scaled[0], n / 256 * 256, &rounded_down[0]);
    }
    const judge::Buffer<float> dx(x);
    launch_scale(dx, 3, n);
    if (!judge::ran(judge::n_is(n))) return;
    judge::compare(judge::n_is(n), dx.read(), scaled, 0,
                   {{"No thread did anything: was the kernel launched?", x},
                    {"The last elements have no block: n / 256 rounds down", rounded_down}});
  }
}
