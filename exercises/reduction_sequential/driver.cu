// x: n numbers; partial: one for each block of 256.
void judge::test() {
  constexpr int kThreads = 256, kEach = 1;
  for (const int n : judge::sizes({256, 1000}, 1 << 18)) {
    const auto x = judge::numbers(n);
    const int count = judge::blocks(n, kThreads * kEach);
    std::vector<float> right(count), firsts(count);
    for (int i = 0; i < n; ++i) right[i / (kThreads * kEach)] += x[i];
    for (int b = 0; b < count; ++b) firsts[b] = x[b * kThreads * kEach];
    const judge::Buffer<float> dx(x), partial(count);
    block_sum<<<count, kThreads>>>(dx, partial, n);
    if (!judge::ran(judge::n_is(n))) return;
    judge::compare(judge::n_is(n), partial.read(), right, 0,
                   {{"Each block gave its first number: nothing was added", firsts}});
  }
}
