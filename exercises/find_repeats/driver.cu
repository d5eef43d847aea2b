void judge::test() {
  for (const int n : judge::sizes({1, 2, 256, 3001}, 1 << 16)) {
    auto x = judge::numbers<int>(n);
    for (int& v : x) v /= 4;  // 8 values
    x[0] = x[n > 1];          // the first is a repeat
    std::vector<int> right;
    if (judge::expecting())
      for (int i = 0; i + 1 < n; ++i)
        if (x[i] == x[i + 1]) right.push_back(i);
    const judge::Buffer<int> dx(x), places(n);
    const int count = find_repeats(dx, places, n);
    if (!judge::ran(judge::n_is(n))) return;
    judge::compare_value<int>(judge::n_is(n) + ", count", count, right.size());
    std::vector<int> got(judge::expecting() ? right.size() : std::clamp(count, 0, n));
    cudaMemcpy(got.data(), places, got.size() * sizeof(int), cudaMemcpyDeviceToHost);
    judge::compare(judge::n_is(n) + ", places", got, right, 0,
                   {{"Nothing is missing, but they are not sorted: atomics are served in any order", right, true}});
  }
}
