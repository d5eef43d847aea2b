// Arithmetic and register layouts of the matrix instructions, in C++. Machine code passes fragments as planes: word w
// of lane l of register r at [r*32 + l], 32-bit words (64-bit ones for f64).
#pragma once

#include <cstdint>

#include "ptx/types.h"

namespace warpgrind::jit {

// Shape argument of wg_mma. Encoded as a plain integer, since it is a constant in the code.
struct MatrixShape {
  std::uint8_t m = 0, n = 0;
  std::uint16_t k = 0;
  std::uint32_t code() const { return m | std::uint32_t{n} << 8 | std::uint32_t{k} << 16; }
  static MatrixShape from_code(std::uint32_t c) {
    return {static_cast<std::uint8_t>(c), static_cast<std::uint8_t>(c >> 8), static_cast<std::uint16_t>(c >> 16)};
  }
};

enum MatrixFlags : std::uint32_t {
  kMatrixAColumn = 1,  // A is column-major
  kMatrixBColumn = 2,
  kMatrixMmaLayout = 4,  // fragment layout of mma in the PTX manual; without the flag the linear layout of wmma
  kMatrixSaturate = 8,   // .satfinite on integers
  kMatrixAndPopc = 16,   // b1: and instead of xor
};

void register_matrix_symbols();  // wg_mma, wg_mma_sparse, wg_matrix_rows, wg_spread_rows

}  // namespace warpgrind::jit
