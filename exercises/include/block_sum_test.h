// Test of the reductions. x: n numbers. partial: one sum per block of 256 threads.
#pragma once

#include "judge.h"

namespace judge {

// each: numbers per thread.
inline void block_sum_test(std::initializer_list<int> verified, int each) {
  constexpr int kThreads = 256;
  for (const int n : judge::sizes(verified, 1 << 18)) {
    const auto x = judge::numbers(n);
    const int count = judge::blocks(n, kThreads * each);
    std::vector<float> right(count), firsts(count);
    if (judge::expecting())
      for (int i = 0; i < n; ++i) right[i / (kThreads * each)] += x[i];
    for (int b = 0; b < count; ++b) firsts[b] = x[b * kThreads * each];
    const judge::Buffer<float> dx(x), partial(count);
    block_sum<<<count, kThreads>>>(dx, partial, n);
    if (!judge::ran(judge::n_is(n))) return;
    judge::compare(judge::n_is(n), partial.read(), right, 0,
                   {{"Each block returned its first number: nothing was added", firsts}});
  }
}

}  // namespace judge
