// Sums of a tensor core, bit for bit. It adds several products and the number before as one sum. All terms are aligned
// to the largest exponent, and bits below a fixed place are cut off. The exact sum of the rest is rounded once.
#pragma once

#include <cstdint>

#include "ptx/types.h"

namespace warpgrind::jit {

// How one kind of instruction adds on one GPU.
struct TensorCoreSum {
  unsigned terms;     // products that one sum takes
  unsigned fraction;  // bits kept below the largest exponent of a term
  unsigned result;    // bits of the result's fraction, the rest is cut off: 23, or 13 for 8-bit types
  // 8-bit types as f16, as mma has no others on compute capability 9.0: the lower two bytes of each word of a row are
  // one sum, the upper two bytes are added to it. The number before is added last, by an addition of f32.
  bool as_halves = false;
};

// `capability`: of the GPU, times 10. asynchronous: wgmma. depth: of the whole product, in multiplied elements. An
// H200's sums are measured (tests/hardware/tensor_cores.expected); those of other generations are published (Fasi et
// al., "Numerical behavior of NVIDIA tensor cores", 2021; Xie et al., "MMA-Sim", 2025) and not held against hardware.
TensorCoreSum tensor_core_sum(ptx::ScalarType factors, unsigned depth, unsigned capability, bool asynchronous);

struct TensorCoreProduct {
  unsigned rows, columns, depth;  // depth: of a; columns: a multiple of 8
  ptx::ScalarType a, b, d;        // d: f16 or f32
  TensorCoreSum sum;
  // Sparse a: for each element of a, the depth of b that it is multiplied by. Null: the same depth.
  const std::uint8_t* chosen = nullptr;
  unsigned depth_of_b = depth;
};

// sums += a * b, the matrices as in add_products() (matrix_products.h).
void add_on_tensor_core(float* sums, const float* a, const float* b, const TensorCoreProduct& product);

}  // namespace warpgrind::jit
