void judge::test() {
  for (const int n : judge::sizes({1, 256, 1000}, 1 << 17)) {
    const auto x = judge::numbers(n, 1), y = judge::numbers(n, 2), z = judge::numbers(n, 3);
    std::vector<float> right(n);
    if (judge::expecting())
      for (int i = 0; i < n; ++i) right[i] = x[i] * x[i] + y[i] * y[i] + z[i] * z[i];
    const judge::Buffer<float> dx(x), dy(y), dz(z), out(n);
    lengths_of_arrays<<<judge::blocks(n, 256), 256>>>(dx, dy, dz, out, n);
    if (!judge::ran(judge::n_is(n))) return;
    judge::compare(judge::n_is(n), out.read(), right);
  }
}
