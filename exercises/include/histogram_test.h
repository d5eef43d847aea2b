// Test of the histograms: the number of occurrences of each of 32 values.
#pragma once

#include "judge.h"

namespace judge {

inline void histogram_test() {
  for (const int n : judge::sizes({1, 256, 3000}, 1 << 16)) {
    const auto x = judge::numbers<unsigned char>(n);  // 0 to 31
    std::vector<unsigned> right(32);
    if (judge::expecting())
      for (const unsigned char v : x) ++right[v];
    const judge::Buffer<unsigned char> dx(x);
    const judge::Buffer<unsigned> counts(std::vector<unsigned>(32));
    histogram<<<judge::blocks(n, 256), 256>>>(dx, counts, n);
    if (!judge::ran(judge::n_is(n))) return;
    judge::compare(judge::n_is(n), counts.read(), right);
  }
}

}  // namespace judge
