// Factors of mma and mma.sp, from the registers of a warp to dense matrices.
#pragma once

#include <algorithm>

#include "gpu/types.h"
#include "jit/calls/matrix.h"
#include "jit/calls/matrix_elements.h"
#include "jit/calls/matrix_products.h"

namespace warpgrind::jit {

// T: type of products and sums. a: row by row. b: by depth. b1 stays packed and needs no room. 16 columns have a depth
// of 16 at most (wmma).
template <class T>
struct FactorWork {
  static constexpr unsigned kMostRows = 16, kColumns = 8, kMostColumns = 16;
  static constexpr unsigned kMostDepth = 128;  // 4-bit elements, or lines of mix_halves() (jit/calls/sparse_matrix.h)
  T a_planes[kMostRows * kMostDepth], a[kMostRows * kMostDepth], b_columns[kColumns * kMostDepth],
      b[kMostDepth * kColumns];
  T sums[kMostRows * kMostColumns], before[kMostRows * kMostColumns];
};

// PTX ISA, "Matrix Fragments for mma.*": an unpacked register of A is 8 rows with the elements of four lanes each. A
// register of B is 8 such columns. A's registers for rows from 8 on follow those above. So for each group of depth that
// four lanes hold, A's registers are already dense row by row, and B's are dense column by column. `stored`: elements
// of a row of A, half of shape.k if A is sparse.
template <class T>
void unpack_factors(FactorWork<T>& work, MatrixShape shape, ptx::ScalarType type_of_a, ptx::ScalarType type_of_b,
                    unsigned stored, const void* a, const void* b) {
  constexpr unsigned kLanesOfRow = 4;
  const auto [m, n, k] = shape;
  const unsigned depth = kLanesOfRow * std::max(1u, 32 / matrix_element_bits(type_of_a));
  unpack_matrix(work.a_planes, a, m * stored, type_of_a);
  for (unsigned group = 0; group < stored / depth; ++group)
    for (unsigned i = 0; i < m; ++i)
      std::copy_n(work.a_planes + (group * m + i) * depth, depth, work.a + i * stored + group * depth);
  unpack_matrix(work.b_columns, b, n * k, type_of_b);
  for (unsigned group = 0; group < k / depth; ++group)
    transpose_columns(work.b + group * depth * n, work.b_columns + group * n * depth, n, depth);
}

}  // namespace warpgrind::jit
