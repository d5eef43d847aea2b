void judge::test() {
  struct Lengths {
    int a, b;
  };
  const auto all =
      judge::counted()
          ? std::vector<Lengths>{{10000, 6384}}
          : std::vector<Lengths>{{1, 0},       {300, 500},
                                 {1024, 1},    {0, 777},
                                 {1501, 1000}, {judge::further_size(1, 1500), judge::further_size(1, 1500, 1, 1)}};
  for (const auto [na, nb] : all) {
    const auto sorted = [](int n, unsigned seed) {  // 0 to 991
      const auto low = judge::numbers<int>(n, seed), high = judge::numbers<int>(n, seed + 1);
      std::vector<int> out(n);
      for (int i = 0; i < n; ++i) out[i] = high[i] * 32 + low[i];
      std::sort(out.begin(), out.end());
      return out;
    };
    const auto a = sorted(na, 1), b = sorted(nb, 3);
    std::vector<int> right(na + nb), appended = a;
    if (judge::expecting()) {
      std::merge(a.begin(), a.end(), b.begin(), b.end(), right.begin());
      appended.insert(appended.end(), b.begin(), b.end());
    }
    const judge::Buffer<int> da(a), db(b), out(na + nb);
    merge<<<judge::blocks(na + nb, 1024), 128>>>(da, na, db, nb, out);
    const std::string name = std::to_string(na) + " + " + std::to_string(nb);
    if (!judge::ran(name)) return;
    judge::compare(name, out.read(), right, 0, {{"b stands behind a: nothing was merged", appended}});
  }
}
