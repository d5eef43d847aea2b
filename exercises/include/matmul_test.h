// Test of the matrix products: C (m x n) = A (m x k) B (k x n), row-major, by blocks of 16 x 16 threads.
#pragma once

#include "judge.h"

namespace judge {

struct Shape {
  int m, n, k;
};

// rows_of_block: rows of C that one block computes.
inline void matmul_test(const std::vector<Shape>& verified, int rows_of_block) {
  std::vector<Shape> shapes = counted() ? std::vector<Shape>{{64, 64, 64}} : verified;
  if (!counted()) shapes.push_back({further_size(2, 40), further_size(2, 40, 1, 1), further_size(2, 40, 1, 2)});
  for (const auto [m, n, k] : shapes) {
    const std::string name = "m, n, k = " + std::to_string(m) + ", " + std::to_string(n) + ", " + std::to_string(k);
    const auto a = judge::numbers(m * k, 1), b = judge::numbers(k * n, 2);
    std::vector<float> right(m * n), transposed(m * n);
    if (judge::expecting())
      for (int y = 0; y < m; ++y)
        for (int x = 0; x < n; ++x)
          for (int i = 0; i < k; ++i) {
            right[y * n + x] += a[y * k + i] * b[i * n + x];
            if (m == n && n == k) transposed[y * n + x] += a[i * k + y] * b[x * n + i];
          }
    const judge::Buffer<float> da(a), db(b), dc(m * n);
    const dim3 threads(16, 16), blocks(judge::blocks(n, 16), judge::blocks(m, rows_of_block));
    matmul<<<blocks, threads>>>(da, db, dc, m, n, k);
    if (!judge::ran(name)) return;
    judge::compare(name, dc.read(), right, n, {{"Rows and columns are swapped: x belongs to the column", transposed}});
  }
}

}  // namespace judge
