void judge::test() {
  for (const int n : judge::sizes({1, 300, 5000}, 50000)) {
    const double right = static_cast<double>(n) * n, got = sum_managed(n);
    if (!judge::ran(judge::n_is(n))) return;
    judge::compare_value<double>(judge::n_is(n), got, right,
                                 {{"The results were not there yet, or nothing was computed", {0.0}}});
  }
}
