void judge::test() {
  for (const int n : judge::sizes({1, 255, 256, 257, 5000}, 100000)) {
    const auto x = judge::numbers(n);
    std::vector<float> scaled(x), rounded_down(x);
    for (int i = 0; i < n; ++i) scaled[i] = 3 * x[i];
    for (int i = 0; i < n / 256 * 256; ++i) rounded_down[i] = 3 * x[i];
    const judge::Buffer<float> dx(x);
    launch_scale(dx, 3, n);
    if (!judge::ran(judge::n_is(n))) return;
    judge::compare(judge::n_is(n), dx.read(), scaled, 0,
                   {{"No thread did anything: was the kernel launched?", x},
                    {"The last elements have no block: n / 256 rounds down", rounded_down}});
  }
}
