// Test of the transposes: out (columns x rows) is in (rows x columns) transposed. A block of 32 x 8 threads transposes
// a tile of 32 x 32.
#pragma once

#include "judge.h"

__global__ void judge_copy(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

namespace judge {

inline void transpose_test(int counted_width) {
  struct Size {
    int rows, columns;
  };
  const std::vector<Size> sizes =
      judge::counted()
          ? std::vector<Size>{{counted_width, counted_width}}
          : std::vector<Size>{{32, 32}, {1, 70}, {100, 45}, {further_size(2, 90), further_size(2, 90, 1, 1)}};
  for (const auto [rows, columns] : sizes) {
    const auto in = judge::numbers(rows * columns);
    std::vector<float> right(in.size());
    if (judge::expecting())
      for (int y = 0; y < rows; ++y)
        for (int x = 0; x < columns; ++x) right[x * rows + y] = in[y * columns + x];
    const judge::Buffer<float> din(in), dout(in.size());
    if (judge::counted()) {
      const judge::Buffer<float> other(in.size());
      judge_copy<<<judge::blocks(in.size(), 256), 256>>>(din, other, in.size());
    }
    transpose<<<dim3(judge::blocks(columns, 32), judge::blocks(rows, 32)), dim3(32, 8)>>>(din, dout, rows, columns);
    const std::string name = judge::rows_by_columns(rows, columns);
    if (!judge::ran(name)) return;
    judge::compare(name, dout.read(), right, rows, {{"It is a copy: nothing was transposed", in}});
  }
}

}  // namespace judge
