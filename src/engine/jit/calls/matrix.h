// Arithmetic and register layouts of the matrix instructions, in C++. Machine code passes fragments as planes: word w
// of lane l of register r at [r*32 + l], 32-bit words (64-bit ones for f64).
#pragma once

#include <cstdint>

#include "ptx/types.h"
#include "ptx/wmma.h"

namespace warpgrind::jit {

using ptx::MatrixShape;  // an argument of wg_mma

enum MatrixFlags : std::uint32_t {
  kMatrixAColumn = 1,  // A is column-major
  kMatrixBColumn = 2,
  kMatrixMmaLayout = 4,  // fragment layout of mma in the PTX manual; without the flag that of wmma (ptx/wmma.h)
  kMatrixSaturate = 8,   // .satfinite on integers
  kMatrixAndPopc = 16,   // b1: and instead of xor
};

void register_matrix_symbols();  // wg_mma, wg_mma_sparse, wg_matrix_rows, wg_transpose_matrices, wg_matrix_bytes

}  // namespace warpgrind::jit
