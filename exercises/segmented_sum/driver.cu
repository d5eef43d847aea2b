void judge::test() {
  for (const int n : judge::sizes({1, 31, 256, 3001}, 1 << 15)) {
    const auto x = judge::numbers(n);
    const auto random = judge::numbers<int>(n, 2);
    std::vector<int> segment(n);
    for (int i = 0, s = 0, next = 3; i < n; ++i) {
      if (i == next) {
        s += 1 + (random[i] == 0);  // some are empty
        next += 1 + random[i] * random[i] / 10;
      }
      segment[i] = s;
    }
    std::vector<float> right(segment.back() + 1);
    if (judge::expecting())
      for (int i = 0; i < n; ++i) right[segment[i]] += x[i];
    const judge::Buffer<int> ds(segment);
    const judge::Buffer<float> dx(x), sums(std::vector<float>(right.size()));
    segmented_sum<<<judge::blocks(n, 256), 256>>>(ds, dx, sums, n);
    if (!judge::ran(judge::n_is(n))) return;
    judge::compare(judge::n_is(n), sums.read(), right);
  }
}
