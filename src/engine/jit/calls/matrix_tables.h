// Matrix products of mma.m8n8k4 of f16: four, which are spread over the warp. Its fragments are not blocks of rows.
#pragma once

#include <cstdint>

#include "jit/calls/matrix.h"

namespace warpgrind::jit {

struct MatrixProduct {
  MatrixShape shape;
  ptx::ScalarType d, a, b, c;
  std::uint32_t flags = 0;
  std::uint32_t capability = 0;  // of the GPU, times 10

  bool has(MatrixFlags f) const { return (flags & f) != 0; }
  // The only shape of Volta: four independent products in a warp.
  bool is_volta() const { return has(kMatrixMmaLayout) && shape.m == 8 && shape.k == 4 && a == ptx::ScalarType::f16; }
};

void multiply_by_tables(const MatrixProduct& product, void* d, const void* a, const void* b, const void* c);

}  // namespace warpgrind::jit
