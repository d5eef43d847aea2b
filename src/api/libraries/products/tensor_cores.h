// Matrix products whose sums are those of the GPU's tensor cores, bit for bit, instead of OpenBLAS's.
#pragma once

#include <optional>

#include "libraries/products/products.h"

namespace warpgrind::libraries::blas {

// A matrix of floats, column by column, `ld` numbers apart.
struct FloatMatrix {
  const float* at;
  std::int64_t ld;
};

// The factors that tensor cores get. nullopt: they have no part in the product, or it is so large that OpenBLAS, which
// is about 15 times faster, computes it (kMostProducts). Its sums then differ in the last bits from those of a GPU.
std::optional<semantics::TensorCoreFactors> tensor_core_factors(const Product& p);
constexpr double kMostProducts = 2048.0 * 2048 * 2048;

// sums = op(a) op(b), column by column, without gaps. Each sum adds the products in the order of depth, in steps of an
// instruction of the GPU. cuBLAS does the same where it does not divide the depth (kernels of split-k). False: this GPU
// has no tensor cores for the factors.
bool multiply_on_tensor_cores(LibraryRun& run, const Product& p, semantics::TensorCoreFactors factors, FloatMatrix a,
                              FloatMatrix b, float* sums);

}  // namespace warpgrind::libraries::blas
