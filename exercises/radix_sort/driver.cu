void judge::test() {
  for (const int n : judge::sizes({1, 255, 1024, 3001}, 8192)) {
    const auto a = judge::numbers<unsigned>(n, 1), b = judge::numbers<unsigned>(n, 2),
               c = judge::numbers<unsigned>(n, 3), d = judge::numbers<unsigned>(n, 4);
    std::vector<unsigned> keys(n);
    for (int i = 0; i < n; ++i) keys[i] = (a[i] * 2048 + b[i] * 64 + c[i] * 2 + d[i] % 2) % 65536;
    auto right = keys, low = keys, only_low = keys;  // low: the high digit is sorted first, and then the low one
    if (judge::expecting()) {
      const auto by_low = [](unsigned x, unsigned y) { return x % 256 < y % 256; };
      std::sort(right.begin(), right.end());
      std::stable_sort(low.begin(), low.end(), [](unsigned x, unsigned y) { return x / 256 < y / 256; });
      std::stable_sort(low.begin(), low.end(), by_low);
      std::stable_sort(only_low.begin(), only_low.end(), by_low);
    }
    const judge::Buffer<unsigned> dkeys(keys);
    sort(dkeys, n);
    if (!judge::ran(judge::n_is(n))) return;
    judge::compare(judge::n_is(n), dkeys.read(), right, 0,
                   {{"They are sorted by their low 8 bits only: the pass by the high digit comes last", low},
                    {"They are sorted by their low 8 bits only: a second pass is missing", only_low},
                    {"Nothing was sorted", keys}});
  }
}
