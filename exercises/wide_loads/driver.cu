void judge::test() {
  for (const int n : judge::sizes({4, 1024, 5000}, 1 << 18)) {
    const auto in = judge::numbers(n);
    const judge::Buffer<float> din(in), out(n);
    copy4<<<judge::blocks(n / 4, 256), 256>>>(din, out, n);
    if (!judge::ran(judge::n_is(n))) return;
    judge::compare(judge::n_is(n), out.read(), in);
  }
}
