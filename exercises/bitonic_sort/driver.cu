void judge::test() {
  constexpr int kCount = 512;
  for (const int n : judge::sizes({1, 512, 777, 1333}, 1 << 13)) {
    const auto low = judge::numbers<int>(n, 1), high = judge::numbers<int>(n, 2);
    std::vector<int> x(n), right, zeros;
    for (int i = 0; i < n; ++i) x[i] = high[i] * 32 + low[i] + 1;
    if (judge::expecting())
      for (int first = 0; first < n; first += kCount) {
        std::vector<int> block(x.begin() + first, x.begin() + std::min(n, first + kCount));
        std::sort(block.begin(), block.end());
        right.insert(right.end(), block.begin(), block.end());
        const std::size_t real = block.size();
        block.insert(block.begin(), kCount - real, 0);
        zeros.insert(zeros.end(), block.begin(), block.begin() + real);
      }
    const judge::Buffer<int> dx(x);
    sort_blocks<<<judge::blocks(n, kCount), 256>>>(dx, n);
    if (!judge::ran(judge::n_is(n))) return;
    judge::compare(judge::n_is(n), dx.read(), right, 0,
                   {{"Zeros were sorted into the numbers: places beyond n need the largest int", zeros},
                    {"Nothing was sorted", x}});
  }
}
